import { Redis } from 'ioredis'
import { connectionOptions, getRetryDelay } from './connectionOptions.ts'
import { createCork } from './createCork.ts'
import { openRedisCluster } from './openRedisCluster.ts'
import { parseRedisUrl } from './parseRedisUrl.ts'
import type { RedisSentinel, RedisServer } from './parseRedisUrl.ts'
import { pingRedis } from './pingRedis.ts'
import { watchProblem } from './watchProblem.ts'
import type { RedisLink } from './redisLink.ts'

export type { RedisLink } from './redisLink.ts'

/**
 * Connects to Redis in the background, and reconnects whenever the connection is lost. Callers must work without it until then. A command that
 * is in flight when the connection is lost fails, and is never sent twice.
 * @param url - See `parseRedisUrl`. A secret.
 * @throws {TypeError} If it is not such a URL. The message does not contain it.
 */
export const openRedis = (url: string): RedisLink => {
  const target = parseRedisUrl(url)
  if (target.kind === 'cluster') return openRedisCluster(target)
  const client = target.kind === 'server' ? createClient(target) : createSentinelClient(target)
  const getProblem = watchProblem(client)
  client.connect().catch(() => {})
  const cork = createCork()
  const stopWatching = target.kind === 'sentinel' ? watchFailovers(target, client) : () => {}
  return {
    client,
    isReady: () => client.status === 'ready',
    getShard: () => '',
    cork: () => {
      if (client.status === 'ready') cork(client)
    },
    onReady: (listener) => void client.on('ready', () => listener('')),
    ping: () => pingRedis(client, () => (client.status === 'ready' ? ['kr:ping'] : undefined), getProblem),
    pending: () => client.commandQueue.length,
    close: () => {
      stopWatching()
      client.disconnect()
      return Promise.resolve()
    },
  }
}

const options = { ...connectionOptions, enableOfflineQueue: false, retryStrategy: getRetryDelay }

const createClient = ({ url }: RedisServer): Redis => new Redis(url, options)

const createSentinelClient = ({ sentinels, masterName, database, isTls, ...credentials }: RedisSentinel): Redis =>
  new Redis({
    ...options,
    sentinels: [...sentinels],
    name: masterName,
    db: database,
    username: credentials.username,
    password: credentials.password,
    sentinelUsername: credentials.sentinelUsername,
    sentinelPassword: credentials.sentinelPassword,
    sentinelRetryStrategy: getRetryDelay,
    ...(isTls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  })

const failoverChannel = '+switch-master'

/**
 * Reconnects when a sentinel announces another master. Otherwise a client stays on a master that hangs or that only it can reach. (The
 * `failoverDetector` of ioredis prints the addresses of sentinels that it cannot reach.)
 */
const watchFailovers = (
  { sentinels, masterName, isTls, ...credentials }: RedisSentinel,
  client: Redis,
): (() => void) => {
  const watchers = sentinels.map(({ host, port }) => {
    const watcher = new Redis({
      ...options,
      host,
      port,
      username: credentials.sentinelUsername,
      password: credentials.sentinelPassword,
      autoResubscribe: false,
      // Sentinel knows no CLIENT SETNAME before version 6.2.
      enableReadyCheck: false,
      ...(isTls ? { tls: {} } : {}),
    })
    watcher.on('error', () => {})
    watcher.on('ready', () => {
      watcher.subscribe(failoverChannel).catch(() => {})
    })
    watcher.on('message', (_, message: string) => {
      const [name] = message.split(' ')
      // While it looks for the master, it finds the new one.
      if (name === masterName && ['connect', 'ready'].includes(client.status)) client.disconnect(true)
    })
    watcher.connect().catch(() => {})
    return watcher
  })
  return () => {
    for (const watcher of watchers) watcher.disconnect()
  }
}
