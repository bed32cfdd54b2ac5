import type { Change } from '../changes.ts'
import type { RedisLink } from './openRedis.ts'

/** Tells other instances at once what their caches must forget. */
export interface RedisInvalidation {
  /** Tells all instances, this one too. It may be lost: caches follow the feed of changes as well, only later. */
  publish(changes: readonly Change[]): void
  close(): Promise<void>
}

const channel = 'keyrail:changes'
const kinds: ReadonlySet<unknown> = new Set<Change['kind']>(['user', 'app', 'key'])
const longestMessage = 1_000_000

/** Reads what was told, by whoever can reach Redis. */
const readChanges = (message: string): readonly Change[] => {
  if (message.length > longestMessage) return []
  try {
    const told: unknown = JSON.parse(message)
    if (!Array.isArray(told)) return []
    return told.flatMap((one: unknown) => {
      if (!Array.isArray(one)) return []
      const [kind, id] = one as unknown[]
      return kinds.has(kind) && typeof id === 'string' ? [{ kind: kind as Change['kind'], id }] : []
    })
  } catch {
    return []
  }
}

/**
 * Listens through Redis to what others changed, on a connection of its own, made again whenever it is lost.
 * @param options.onChange - Told of changes, at least one.
 */
export const createRedisInvalidation = ({
  redis,
  onChange,
}: {
  redis: RedisLink
  onChange: (changes: readonly Change[]) => void
}): RedisInvalidation => {
  const listener = redis.client.duplicate({ lazyConnect: true, autoResubscribe: false })
  listener.on('error', () => {})
  listener.on('ready', () => {
    listener.subscribe(channel).catch(() => {})
  })
  listener.on('message', (_, message) => {
    const changes = readChanges(message)
    if (changes.length > 0) onChange(changes)
  })
  listener.connect().catch(() => {})
  return {
    publish: (changes) => {
      if (changes.length === 0 || !redis.isReady()) return
      const message = JSON.stringify(changes.map(({ kind, id }) => [kind, id]))
      redis.client.publish(channel, message).catch(() => {})
    },
    close: () => {
      listener.disconnect()
      return Promise.resolve()
    },
  }
}
