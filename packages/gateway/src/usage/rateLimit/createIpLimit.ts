import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { createRateLimiter } from './createRateLimiter.ts'
import type { RateLimiterOptions } from './createRateLimiter.ts'
import type { RateDecision } from './rateDecision.ts'

/** Limits how often one IP may send unknown keys. */
export interface IpLimit {
  /**
   * Takes tokens from the bucket of an IP.
   * @param options.app - Uses a separate bucket for this IP and app.
   * @param options.calls - How many tokens; 0 to read what remains. @default 1
   */
  take(ip: string | undefined, options?: { readonly app?: string; readonly calls?: number }): RateDecision
  /** The number of buckets. */
  readonly size: number
}

/** Options of `createIpLimit`. */
export interface IpLimitOptions extends RateLimiterOptions {
  /** Tokens refilled per second: a whole number from 1 to 1,000,000. */
  readonly perSecond: number
  /** The bucket's capacity, from 1 to 1,000,000. @default perSecond */
  readonly burst?: number | undefined
}

/**
 * Creates a rate limit per IP. All addresses of an IPv6 /64 share one bucket, because one client can use any of them. An IPv4-mapped
 * address counts as the IPv4 address. All values that are not an IP share one bucket. Take a token only after a key turned out to be
 * unknown: a client with a valid key must not be limited by another client's guesses.
 * @throws {TypeError} if an option is out of range.
 * @example
 * const limit = createIpLimit({ perSecond: 10, burst: 50 })
 * limit.take('2001:db8::1').granted // 1
 */
export const createIpLimit = (options: IpLimitOptions): IpLimit => {
  const perSecond = checkCount(options.perSecond, 'perSecond')
  const limits = { perSecond, burst: checkCount(options.burst ?? perSecond, 'burst') }
  const limiter = createRateLimiter({ maxKeys: options.maxKeys, now: options.now })
  return {
    take: (ip, { app, calls = 1 } = {}) => {
      const id = toIpBlock(ip ?? '')
      return limiter.take(app === undefined ? id : `${id} ${app}`, limits, calls)
    },
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
