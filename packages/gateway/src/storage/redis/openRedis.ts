import { once } from 'node:events'
import { Redis } from 'ioredis'
import type { Cluster } from 'ioredis'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'

/** A connection to Redis, which may be lost at any time. */
export interface RedisLink {
  readonly client: Redis | Cluster
  /**
   * Whether commands can be sent now.
   * @param key - Checks only the shard of this key. @default every shard
   */
  isReady(key?: string): boolean
  /**
   * The shard that holds a key: a name of its master. Changes when another node becomes the master.
   * @returns `''` without a cluster.
   */
  shardOf(key: string): string
  /**
   * Listens for connections that become ready, the first time and after each reconnect. Not called for a connection that is ready already.
   * @param listener - Called with the name of the shard, as `shardOf` returns it.
   */
  onReady(listener: (shard: string) => void): void
  /** Does a small write on every shard. @throws {Error} If it does not succeed within a second. The message contains no address and no password. */
  ping(): Promise<void>
  close(): Promise<void>
}

const pingTimeoutMs = 1_000
const maxRetryDelayMs = 1_000

const isRedisUrl = (text: string): boolean =>
  URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol)

/**
 * Connects to Redis in the background, and reconnects whenever the connection is lost. Callers must work without it until then. A command that
 * is in flight when the connection is lost fails, and is never sent twice.
 * @param url - `redis://user:password@host:port/0`, or `rediss:` for TLS. A secret.
 * @throws {TypeError} If it is not such a URL. The message does not contain it.
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
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), maxRetryDelayMs),
  })
  // Without a listener, errors would be printed with the address. Commands report their own errors.
  client.on('error', () => {})
  client.connect().catch(() => {})
  return {
    client,
    isReady: () => client.status === 'ready',
    shardOf: () => '',
    onReady: (listener) => void client.on('ready', () => listener('')),
    ping: async () => {
      const stop = new AbortController()
      const connected = client.status === 'ready' ? Promise.resolve() : once(client, 'ready', { signal: stop.signal })
      // Not PING: a replica or a Redis that is out of memory responds to PING but rejects writes.
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
