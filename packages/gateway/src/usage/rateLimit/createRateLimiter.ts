import { monotonicClock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { RateDecision, RateLimiter, RateLimits } from './rateLimiter.ts'
import { peekTokens, takeTokens } from './tokenBucket.ts'
import type { TokenBucket } from './tokenBucket.ts'

/** A rate limiter that decides synchronously, in this process. */
export interface LocalRateLimiter extends RateLimiter {
  take(id: string, limits: RateLimits, calls: number): RateDecision
  peek(id: string, limits: RateLimits): RateDecision
  /** The number of keys with a bucket. */
  readonly size: number
}

/** Options of `createRateLimiter`. */
export interface RateLimiterOptions {
  /** Most keys with a bucket, 2 or more. From half of it on, the least recently used keys may get a full bucket again; none is rejected. @default 100_000 */
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
}: RateLimiterOptions = {}): LocalRateLimiter => {
  const buckets = createRecentMap<TokenBucket>(maxKeys)
  return {
    take: (id, limits, calls) => {
      const time = Math.floor(now())
      let bucket = buckets.get(id)
      if (bucket === undefined) {
        bucket = { spent: 0, updatedAt: time }
        buckets.set(id, bucket)
      }
      return takeTokens(bucket, limits, calls, time)
    },
    peek: (id, limits) => {
      const time = Math.floor(now())
      return peekTokens(buckets.get(id) ?? { spent: 0, updatedAt: time }, limits, 1, time)
    },
    get size() {
      return buckets.size
    },
  }
}
