import { Cluster } from 'ioredis'
import type { Redis } from 'ioredis'
import type { Change } from '../changes.ts'
import type { RedisLink } from './redisLink.ts'

/** Notifies other instances through Redis which entries their caches must evict. */
export interface RedisInvalidation {
  /** Publishes changes to all instances, including this one. A message can be lost: then caches get the change later from the change feed. */
  publish(changes: readonly Change[]): void
  close(): Promise<void>
}

const channel = 'kr:changes'
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

/**
 * A separate connection, because one that subscribes takes no other commands. In a cluster each node gets all messages, so any node will do.
 * @returns `undefined` while no node of the cluster is known to work.
 */
const openListener = (client: Redis | Cluster): Redis | undefined => {
  if (!(client instanceof Cluster)) return client.duplicate({ autoResubscribe: false })
  const nodes = client.nodes('master').filter(({ status }) => status === 'ready')
  // Does not reconnect: then another node is chosen.
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate({ autoResubscribe: false, retryStrategy: null })
}

const retryMs = 200

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
  let listener: Redis | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const openLater = (): void => {
    if (!closed) timer = setTimeout(open, retryMs)
  }
  const open = (): void => {
    const opened = openListener(redis.client)
    listener = opened
    if (opened === undefined) {
      openLater()
      return
    }
    opened.on('error', () => {})
    opened.on('end', openLater)
    opened.on('ready', () => {
      opened.subscribe(channel).catch(() => {})
    })
    opened.on('message', (_, message) => {
      const changes = parseChanges(message)
      if (changes.length > 0) onChange(changes)
    })
    opened.connect().catch(() => {})
  }
  open()
  return {
    publish: (changes) => {
      if (changes.length === 0 || !redis.isReady()) return
      const message = JSON.stringify(changes.map(({ kind, id }) => [kind, id]))
      redis.client.publish(channel, message).catch(() => {})
    },
    close: () => {
      closed = true
      clearTimeout(timer)
      listener?.disconnect()
      return Promise.resolve()
    },
  }
}
