import type { RateDecision } from './rateDecision.ts'
import { createRateLimiter } from './createRateLimiter.ts'

/** Limits how often each key may call. */
export interface RateLimit {
  /**
   * Takes calls from a key's allowance. What is not granted costs nothing.
   * @param key - Whose calls these are.
   * @param calls - How many, 0 or more: one for each item of a batch. @default 1
   */
  take(key: string, calls?: number): RateDecision
  /** How many keys are remembered now. */
  readonly size: number
}

/** What a rate limit is made of. */
export interface RateLimitOptions {
  /** Calls a second, in the long run: a whole number from 1 to 1,000,000. */
  readonly perSecond: number
  /** Calls at once by a key that was quiet, from 1 to 1,000,000. @default perSecond */
  readonly burst?: number | undefined
  /** Keys remembered, 2 or more. Past half of it, a key that was not heard of longest may begin with a full burst again; none is rejected. @default 100_000 */
  readonly maxKeys?: number | undefined
  /** A clock in milliseconds that never goes back; parts of a millisecond are dropped. @default performance.now */
  readonly now?: (() => number) | undefined
}

/**
 * Makes a rate limit that is the same for all keys: of any span of time, no more than `burst + perSecond × seconds` calls are granted, and
 * nothing is rejected that would keep to that.
 * @throws {TypeError} where an option is out of its range.
 * @example
 * const limit = createRateLimit({ perSecond: 100, burst: 1000 })
 * limit.take('app-1', 50).granted // 50
 */
export const createRateLimit = (options: RateLimitOptions): RateLimit => {
  const perSecond = checkCount(options.perSecond, 'perSecond')
  const burst = checkCount(options.burst ?? perSecond, 'burst')
  const limiter = createRateLimiter({ maxKeys: options.maxKeys, now: options.now })
  const limits = { perSecond, burst }
  return {
    take: (key, calls = 1) => limiter.take(key, limits, calls),
    get size() {
      return limiter.size
    },
  }
}

const checkCount = (value: number, option: string): number => {
  if (!Number.isSafeInteger(value) || value < 1 || value > 1_000_000)
    throw new TypeError(`${option} must be a whole number from 1 to 1000000`)
  return value
}
