import { monotonicClock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { RateDecision } from './rateDecision.ts'
import type { RateLimiter, RateLimits } from './rateLimiter.ts'
import { previewTake, takeFromBucket } from './takeFromBucket.ts'
import type { BucketOwner } from './takeFromBucket.ts'

/** A limiter that decides by itself, at once. */
export interface LocalRateLimiter extends RateLimiter {
  take(id: string, limits: RateLimits, calls: number): RateDecision
  peek(id: string, limits: RateLimits): RateDecision
  /** How many keys are remembered now. */
  readonly size: number
}

/** What a limiter is made of. */
export interface RateLimiterOptions {
  /** Keys remembered, 2 or more. Past half of it, a key that was not heard of longest may begin with a full burst again; none is rejected. @default 100_000 */
  readonly maxKeys?: number | undefined
  /** A monotonic clock in milliseconds; fractions are dropped. @default performance.now */
  readonly now?: (() => number) | undefined
}

/**
 * Makes a limiter for keys that have limits of their own. The limits of the last call hold, also for what was taken before.
 * @example
 * const rates = createRateLimiter()
 * rates.take('app_1', { perSecond: 100, burst: 1000 }, 50).granted // 50
 */
export const createRateLimiter = ({
  maxKeys = 100_000,
  now = monotonicClock(),
}: RateLimiterOptions = {}): LocalRateLimiter => {
  const debtors = createRecentMap<BucketOwner>(maxKeys)
  return {
    take: (id, limits, calls) => {
      const time = Math.floor(now())
      let owner = debtors.get(id)
      if (owner === undefined) {
        owner = { debt: 0, at: time }
        debtors.set(id, owner)
      }
      return takeFromBucket(owner, limits, calls, time)
    },
    peek: (id, limits) => {
      const time = Math.floor(now())
      return previewTake(debtors.get(id) ?? { debt: 0, at: time }, limits, 1, time)
    },
    get size() {
      return debtors.size
    },
  }
}
