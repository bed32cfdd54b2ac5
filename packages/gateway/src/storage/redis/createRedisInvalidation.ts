import type { Change } from '../changes.ts'
import type { RedisMessages } from './createRedisMessages.ts'

/** Notifies other instances through Redis which entries their caches must evict. */
export interface RedisInvalidation {
  /** Publishes changes to all instances, including this one. A message can be lost: then caches get the change later from the change feed. */
  publish(changes: readonly Change[]): void
}

const channel = 'kr:changes'
const kinds: ReadonlySet<unknown> = new Set<Change['kind']>(['user', 'app', 'key'])

/** Parses a message. It is not trusted: other programs may have access to Redis. */
const parseChanges = (message: string): readonly Change[] => {
  try {
    const parsed: unknown = JSON.parse(message)
    if (!Array.isArray(parsed)) return []
    return parsed.flatMap((one: unknown) => {
      if (!Array.isArray(one)) return []
      const [kind, id] = one as unknown[]
      return kinds.has(kind) && typeof id === 'string' ? [{ kind: kind as Change['kind'], id }] : []
    })
  } catch {
    return []
  }
}

/**
 * Subscribes to the changes of other instances.
 * @param options.onChange - Called with one or more changes.
 */
export const createRedisInvalidation = ({
  messages,
  onChange,
}: {
  messages: RedisMessages
  onChange: (changes: readonly Change[]) => void
}): RedisInvalidation => {
  messages.subscribe(channel, (message) => {
    const changes = parseChanges(message)
    if (changes.length > 0) onChange(changes)
  })
  return {
    publish: (changes) => {
      if (changes.length === 0) return
      messages.publish(channel, JSON.stringify(changes.map(({ kind, id }) => [kind, id])))
    },
  }
}
