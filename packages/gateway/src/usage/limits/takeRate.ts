import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { RateDecision } from '../rateLimit/rateDecision.ts'
import type { LimitRequest } from './usageLimits.ts'

/** Takes the calls of a request from the local rate of its key. @returns `undefined`: the key has no rate limit. */
export const takeRate = (rates: RateLimiter, { id, rate, calls, weights }: LimitRequest): RateDecision | undefined =>
  rate === undefined ? undefined : rates.take(id, rate, calls, weights)

/** Returns how many of the calls that passed request units of the quota. */
export const countRequested = ({ passed }: LimitRequest, rate: RateDecision | undefined): number =>
  rate === undefined ? passed : Math.min(passed, rate.granted)
