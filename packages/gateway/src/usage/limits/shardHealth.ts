/*
 * Whether a shard of Redis is lost. Slow is not lost: as long as it replies, however late, requests wait. It is lost if the connection is, or if
 * nothing has come back for as long as a request waits.
 */

/** The state of one shard. Times are by the monotonic clock. */
export interface ShardHealth {
  /** The number of the connection, different for each connection of each shard; 0 before the first one. */
  connection: number
  /** `undefined`: not lost. */
  lostSince: number | undefined
  lastReplyAt: number
  /** Until when quotas are not seeded: other instances may still write what they granted. */
  seedableAt: number
}

/** How long all instances need to write their grants, in milliseconds: the meter writes every 500 ms. */
export const seedDelayMs = 1_500

/**
 * Creates the state of a shard.
 * @param options.connection - 0 if no commands can be sent yet.
 * @param options.seedableAt - Until when quotas are not seeded, because it may have taken over from a lost shard; 0: it has not.
 */
export const createShardHealth = (options: {
  readonly connection: number
  readonly seedableAt: number
  readonly now: number
}): ShardHealth => ({
  connection: options.connection,
  lostSince: options.connection === 0 ? options.now : undefined,
  lastReplyAt: options.now,
  seedableAt: options.seedableAt,
})

/** Whether nothing has come back for too long. @param oldestSentAt - When the oldest request was sent that has no reply. */
export const isHung = (
  { lastReplyAt }: ShardHealth,
  { oldestSentAt, patienceMs, now }: { oldestSentAt: number; patienceMs: number; now: number },
): boolean => now - Math.max(lastReplyAt, oldestSentAt) >= patienceMs

/** Marks a shard as lost. @returns Whether it was not lost before. */
export const setLost = (health: ShardHealth, now: number): boolean => {
  if (health.lostSince !== undefined) return false
  health.lostSince = now
  return true
}

/**
 * Marks a shard as connected. The Redis behind a new connection may have lost its data.
 * @returns Whether it was lost before, so that the units granted in the meantime must be charged.
 */
export const setConnected = (health: ShardHealth, connection: number, now: number): boolean => {
  const wasLost = health.lostSince !== undefined
  if (health.connection > 0) health.seedableAt = now + seedDelayMs
  health.connection = connection
  health.lostSince = undefined
  health.lastReplyAt = now
  return wasLost
}
