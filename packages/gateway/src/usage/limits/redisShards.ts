import type { RedisLink } from '../../storage/redis/redisLink.ts'
import { createShardHealth, isHung, setConnected, setLost, seedDelayMs } from './shardHealth.ts'
import type { ShardHealth } from './shardHealth.ts'

/** A shard of Redis. Without a cluster, there is one. */
export interface Shard extends ShardHealth {
  /** A key on this shard, to check whether it is connected. */
  readonly key: string
}

/** Knows which shards of Redis are lost. */
export interface RedisShards {
  /** Returns the shard of a key. */
  get(key: string): Shard
  /** Marks a shard as lost, because a command got no reply. */
  lose(shard: Shard): void
  /**
   * Marks shards as lost whose connection is lost or that hang, and checks whether hung shards reply again.
   * @param oldestSentAt - When the oldest request was sent that has no reply, by shard. Times are by the monotonic clock.
   */
  check(oldestSentAt: ReadonlyMap<Shard, number>): void
  /** Whether any shard is lost. */
  isAnyLost(): boolean
}

/** Options of {@link createRedisShards}. */
export interface RedisShardsOptions {
  readonly redis: Pick<RedisLink, 'client' | 'isReady' | 'onReady' | 'getShard'>
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
  /** How long a request waits for Redis, in milliseconds. A shard hangs if nothing has come back for as long. */
  readonly patienceMs: number
  /** Called when a shard is lost that was connected before. */
  readonly onLost: () => void
  /** Called for each shard that becomes ready, by its name, also for those that `get` has not returned yet. */
  readonly onReady: (name: string) => void
  /**
   * Called when a shard is connected, or replies again.
   * @param wasLost - Whether it was lost before.
   */
  readonly onConnected: (shard: Shard, wasLost: boolean) => void
}

/** Watches the shards of Redis. A shard is lost if its connection is lost, or if it hangs. */
export const createRedisShards = (options: RedisShardsOptions): RedisShards => {
  const { redis, clock, patienceMs } = options
  const createdAt = clock()
  const shards = new Map<string, Shard>()
  /** When each shard became ready last. None that was ready before this instance is in it. */
  const readySince = new Map<string, number>()
  const probing = new Set<Shard>()
  let connections = 0

  const add = (key: string, name: string): Shard => {
    const connection = redis.isReady(key) ? (connections += 1) : 0
    // All shards are connected soon after the start. Later ones are the result of a failover.
    const readyAt = readySince.get(name) ?? createdAt
    const seedableAt = readyAt - createdAt > seedDelayMs ? readyAt + seedDelayMs : 0
    const shard = { ...createShardHealth({ connection, seedableAt, now: clock() }), key }
    shards.set(name, shard)
    return shard
  }

  const lose = (shard: Shard): void => {
    if (setLost(shard, clock()) && shard.connection > 0) options.onLost()
  }
  const connect = (shard: Shard): void => {
    const wasLost = setConnected(shard, (connections += 1), clock())
    options.onConnected(shard, wasLost)
  }
  redis.onReady((name) => {
    readySince.set(name, clock())
    options.onReady(name)
    const shard = shards.get(name)
    if (shard !== undefined) connect(shard)
  })

  /** Checks whether a shard that hung replies again. */
  const probe = (shard: Shard): void => {
    if (probing.has(shard)) return
    probing.add(shard)
    redis.client
      .exists(shard.key)
      .then(
        () => shard.lostSince !== undefined && connect(shard),
        () => {},
      )
      .finally(() => probing.delete(shard))
  }

  return {
    get: (key) => {
      const name = redis.getShard(key)
      return shards.get(name) ?? add(key, name)
    },
    lose,
    check: (oldestSentAt) => {
      const now = clock()
      for (const shard of shards.values()) {
        const oldest = oldestSentAt.get(shard)
        if (oldest !== undefined && isHung(shard, { oldestSentAt: oldest, patienceMs, now })) lose(shard)
        const isReady = redis.isReady(shard.key)
        if (shard.lostSince === undefined && !isReady) lose(shard)
        else if (shard.lostSince !== undefined && isReady) probe(shard)
      }
    },
    isAnyLost: () => [...shards.values()].some(({ lostSince }) => lostSince !== undefined),
  }
}
