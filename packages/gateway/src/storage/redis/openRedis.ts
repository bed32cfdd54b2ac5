import { once } from 'node:events'
import { Redis } from 'ioredis'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'

/** A connection to Redis, which may be gone at any time. */
export interface RedisLink {
  readonly client: Redis
  /** Whether it may be asked now. */
  isReady(): boolean
  /** Writes something small. @throws {Error} if Redis does not take it within a second. The message holds no address and no password. */
  ping(): Promise<void>
  close(): Promise<void>
}

const pingTimeoutMs = 1_000
const longestPauseMs = 1_000

const isRedisUrl = (text: string): boolean =>
  URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol)

/**
 * Opens a connection to Redis, in the background: what needs it must do without while it is not there. It is made again and again for as long as it
 * is lost. A command that was on its way then fails, and is never sent twice.
 * @param url - `redis://user:password@host:port/0`, or `rediss:` for TLS. A secret.
 * @throws {TypeError} where it is no such URL; it is not repeated.
 */
export const openRedis = (url: string): RedisLink => {
  if (!isRedisUrl(url)) throw new TypeError('redisUrl must be a URL such as redis://user:password@host:6379/0')
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 5_000,
    connectionName: 'keyrail',
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), longestPauseMs),
  })
  // Without a listener it would be printed, address and all. Who asks is told by what it asks.
  client.on('error', () => {})
  client.connect().catch(() => {})
  return {
    client,
    isReady: () => client.status === 'ready',
    ping: async () => {
      const stop = new AbortController()
      const connected = client.status === 'ready' ? Promise.resolve() : once(client, 'ready', { signal: stop.signal })
      // Not PING: a replica, or a Redis whose memory is used up, responds to that and takes no writes.
      const written = connected.then(() => client.set('keyrail:ping', '1', 'PX', 10_000)).catch(() => timedOut)
      const result = await withTimeout(written, pingTimeoutMs)
      stop.abort()
      if (result === timedOut) throw new Error('Redis does not respond')
    },
    close: () => {
      client.disconnect()
      return Promise.resolve()
    },
  }
}
