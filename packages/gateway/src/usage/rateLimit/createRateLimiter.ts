import { monotonicClock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { RateDecision, RateLimits } from './rateDecision.ts'
import { peekTokens, takeTokens } from './tokenBucket.ts'
import type { TokenBucket } from './tokenBucket.ts'

/** Limits each key to its own rate, in this process. */
export interface RateLimiter {
  /**
   * Takes one token per call. Rejected calls take none.
   * @param id - The id of the key or app, never the key itself.
   * @param calls - 0 or more: one for each call of a batch.
   * @param weights - What the first calls take, in tokens. @default 1 each
   */
  take(id: string, limits: RateLimits, calls: number, weights?: readonly number[]): RateDecision
  /** Returns what taking one token would decide, and takes nothing. */
  peek(id: string, limits: RateLimits): RateDecision
  /** The number of keys with a bucket. */
  readonly size: number
}

/** Options of `createRateLimiter`. */
export interface RateLimiterOptions {
  /** Most keys with a bucket, 1 or more. One more removes the bucket of the least recently used key, which then has a full one again. @default 100_000 */
  readonly maxKeys?: number | undefined
  /** A monotonic clock in milliseconds; fractions are dropped. @default performance.now */
  readonly now?: (() => number) | undefined
}

/**
 * Creates a rate limiter for keys with individual limits. Each call uses the limits that it is given, also for tokens taken earlier.
 * @throws {TypeError} if `maxKeys` is out of range.
 * @example
 * const rates = createRateLimiter()
 * rates.take('app_1', { perSecond: 100, burst: 1000 }, 50).granted // 50
 */
export const createRateLimiter = ({
  maxKeys = 100_000,
  now = monotonicClock(),
}: RateLimiterOptions = {}): RateLimiter => {
  const buckets = createRecentMap<TokenBucket>(maxKeys)
  return {
    take: (id, limits, calls, weights) => {
      const time = Math.floor(now())
      let bucket = buckets.get(id)
      if (bucket === undefined) {
        bucket = { spent: 0, updatedAt: time }
        buckets.set(id, bucket)
      }
      return takeTokens(bucket, limits, { calls, weights }, time)
    },
    peek: (id, limits) => {
      const time = Math.floor(now())
      return peekTokens(buckets.get(id) ?? { spent: 0, updatedAt: time }, limits, { calls: 1 }, time)
    },
    get size() {
      return buckets.size
    },
  }
}
