import type { Cluster, Redis } from 'ioredis'

/** A connection to Redis, which may be lost at any time. */
export interface RedisLink {
  /** Its errors can contain addresses of nodes (`MOVED 866 10.0.0.5:6379`), so never log their messages. */
  readonly client: Redis | Cluster
  /**
   * Whether commands can be sent now.
   * @param key - Checks the shard of this key. Without a key, one shard that is ready suffices, as for `PUBLISH`.
   */
  isReady(key?: string): boolean
  /**
   * The shard that holds a key: the name of its master. Changes after a failover.
   * @returns `''` without a cluster, and before the slots of a cluster are known.
   */
  getShard(key: string): string
  /** Writes the commands of this turn of the event loop to the shard of a key together, which takes less CPU. */
  cork(key: string): void
  /**
   * Listens for shards that become ready, the first time and after each reconnect or failover. Not called for a shard that is ready already.
   * @param listener - Called with the name of the shard, as `getShard` returns it.
   */
  onReady(listener: (shard: string) => void): void
  /** Does a small write on every shard. @throws {Error} If it does not succeed within a second. The message contains no address and no password. */
  ping(): Promise<void>
  /** How many commands Redis has not replied to. */
  pending(): number
  close(): Promise<void>
}
