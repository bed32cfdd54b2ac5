import { Cluster } from 'ioredis'
import type { Redis } from 'ioredis'
import type { Change } from '../changes.ts'
import type { RedisLink } from './openRedis.ts'

/** Tells other instances through Redis what their caches must evict. */
export interface RedisInvalidation {
  /** Publishes changes to all instances, including this one. A message can be lost: then caches get the change later from the change feed. */
  publish(changes: readonly Change[]): void
  close(): Promise<void>
}

const channel = 'keyrail:changes'
const kinds: ReadonlySet<unknown> = new Set<Change['kind']>(['user', 'app', 'key'])
const maxMessageLength = 1_000_000

/** Parses a message. It is not trusted: other programs may have access to Redis. */
const parseChanges = (message: string): readonly Change[] => {
  if (message.length > maxMessageLength) return []
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

/** A separate client, because a connection that subscribes takes no other commands. */
const openListener = (client: Redis | Cluster): Redis | Cluster =>
  client instanceof Cluster
    ? // A cluster chooses the node for subscriptions, and may still connect to it: then the command waits.
      client.duplicate([], { enableOfflineQueue: true })
    : client.duplicate({ autoResubscribe: false })

/**
 * Subscribes to the changes of other instances, on a separate connection that reconnects when it is lost.
 * @param options.onChange - Called with one or more changes.
 */
export const createRedisInvalidation = ({
  redis,
  onChange,
}: {
  redis: RedisLink
  onChange: (changes: readonly Change[]) => void
}): RedisInvalidation => {
  const listener = openListener(redis.client)
  listener.on('error', () => {})
  listener.on('ready', () => {
    listener.subscribe(channel).catch(() => {})
  })
  listener.on('message', (_: string, message: string) => {
    const changes = parseChanges(message)
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
