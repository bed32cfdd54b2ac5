import type { Clock } from '../../lib/clock.ts'
import { dayMs } from '../../lib/time.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'

/*
 * What this instance knows of the clock of Redis, which all instances use.
 */

/** The clock of Redis, computed from its replies. */
export interface RedisClock {
  /** Monotonic, in milliseconds. */
  readonly clock: Clock
  /** Milliseconds since 1970, until Redis has replied. */
  readonly wall: Clock
  /** The clock of Redis minus `clock`; `undefined` until it is known. Replies take time, so it is never ahead. */
  offsetMs: number | undefined
  /** The same, but never behind: for deadlines, because a busy process handles replies late. Units that are granted after a request gave up are returned. */
  deadlineOffsetMs: number | undefined
  today: UtcDay
}

/** Creates the clock of a Redis that has not replied yet. */
export const createRedisClock = (clock: Clock, wall: Clock): RedisClock => ({
  clock,
  wall,
  offsetMs: undefined,
  deadlineOffsetMs: undefined,
  today: getUtcDay(wall()),
})

/** Takes over the time of a reply. @param sentAt - When the request was sent, by `clock`. */
export const setRedisTime = (redis: RedisClock, ms: number, sentAt: number): void => {
  redis.offsetMs = ms - redis.clock()
  redis.deadlineOffsetMs = ms - sentAt
}

/** Gets the time of Redis, in milliseconds since 1970. */
export const getRedisTime = ({ clock, wall, offsetMs }: RedisClock): number =>
  offsetMs === undefined ? wall() : Math.floor(clock() + offsetMs)

/** Gets the day of Redis. */
export const getRedisDay = (redis: RedisClock): UtcDay => {
  const time = getRedisTime(redis)
  if (time >= redis.today.endMs || time < redis.today.endMs - dayMs) redis.today = getUtcDay(time)
  return redis.today
}

/** Converts a time of `clock` to the time of Redis after which it must not decide any more. */
export const toRedisDeadline = ({ deadlineOffsetMs }: RedisClock, ms: number): number =>
  deadlineOffsetMs === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(ms + deadlineOffsetMs)
