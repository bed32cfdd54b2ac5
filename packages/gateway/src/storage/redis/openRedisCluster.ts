import getSlot from 'cluster-key-slot'
import { Cluster } from 'ioredis'
import type { Redis } from 'ioredis'
import { connectionOptions, getRetryDelay } from './connectionOptions.ts'
import { createCork } from './createCork.ts'
import type { RedisCluster } from './parseRedisUrl.ts'
import { pingRedis } from './pingRedis.ts'
import { watchProblem } from './watchProblem.ts'
import type { RedisLink } from './redisLink.ts'

/** How often missing connections are looked for, in milliseconds. */
const checkMs = 500

/**
 * Connects to all masters of a cluster, and to new masters after a failover. MOVED, ASK and TRYAGAIN are followed, because the node that
 * sends them has not run the command. No other command is sent again.
 */
export const openRedisCluster = ({ nodes, isTls, username, password }: RedisCluster): RedisLink => {
  const client = new Cluster([...nodes], {
    lazyConnect: true,
    enableOfflineQueue: false,
    // 0 is "do not send it again".
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: getRetryDelay,
    // By default a new master is only found through a MOVED of the old one, which sends none if it hangs.
    slotsRefreshInterval: 5_000,
    // Names, not IP addresses, so that certificates match.
    dnsLookup: (host, callback) => callback(null, host),
    redisOptions: { ...connectionOptions, username, password, ...(isTls ? { tls: {} } : {}) },
  })
  const getProblem = watchProblem(client)

  const listeners: ((shard: string) => void)[] = []
  const readyShards = new Set<string>()
  let masters: ReadonlyMap<string, Redis> = new Map()
  const cork = createCork()
  const getShardOfSlot = (slot: number): string => client.slots[slot]?.[0] ?? ''

  /** Connects to masters, and finds out which shards became ready and which were lost. */
  const update = (): void => {
    masters = new Map(client.nodes('master').map((node) => [getName(node), node]))
    const isReady = (shard: string): boolean => client.status === 'ready' && masters.get(shard)?.status === 'ready'
    for (const shard of readyShards) if (!isReady(shard)) readyShards.delete(shard)
    if (client.status !== 'ready') return
    for (const [shard, node] of masters) {
      // Otherwise a node is connected by its first command, and nobody sends a command to a shard that is not ready.
      if (node.status === 'wait') node.connect().catch(() => {})
      if (!isReady(shard) || readyShards.has(shard)) continue
      readyShards.add(shard)
      for (const listener of listeners) listener(shard)
    }
  }
  client.on('+node', (node: Redis) => {
    node.on('ready', update)
    update()
  })
  for (const event of ['ready', 'refresh', '-node', 'close']) client.on(event, update)

  /** For each shard a key that it holds. `undefined` while one of them is not ready. */
  const getPingKeys = (): readonly string[] | undefined => {
    const missing = new Set(client.slots.map(([shard = '']) => shard))
    if (missing.size === 0 || ![...missing].every((shard) => readyShards.has(shard))) return undefined
    const keys: string[] = []
    for (let index = 0; missing.size > 0; index += 1) {
      const key = `kr:ping:${index}`
      if (missing.delete(getShardOfSlot(getSlot(key)))) keys.push(key)
    }
    return keys
  }

  const timer = setInterval(() => {
    update()
    if (client.status === 'ready') {
      if (getPingKeys() !== undefined) return
      client.refreshSlotsCache((error) => {
        // No node that is known responds: start over with the nodes of the URL, whose addresses may be others now.
        if (error && client.status === 'ready') client.disconnect(true)
      })
    } else if (client.status === 'close' || client.status === 'end') client.connect().catch(() => {})
  }, checkMs)
  client.connect().catch(() => {})

  return {
    client,
    isReady: (key) => (key === undefined ? readyShards.size > 0 : readyShards.has(getShardOfSlot(getSlot(key)))),
    getShard: (key) => getShardOfSlot(getSlot(key)),
    cork: (key) => {
      const master = masters.get(getShardOfSlot(getSlot(key)))
      if (master?.status === 'ready') cork(master)
    },
    onReady: (listener) => void listeners.push(listener),
    ping: () => pingRedis(client, getPingKeys, getProblem),
    pending: () => [...masters.values()].reduce((sum, { commandQueue }) => sum + commandQueue.length, 0),
    close: () => {
      clearInterval(timer)
      client.disconnect()
      return Promise.resolve()
    },
  }
}

/** The name of a node, as in `client.slots`. */
const getName = ({ options: { host = '', port = 0 } }: Redis): string => `${host}:${port}`
