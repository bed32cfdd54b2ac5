import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { RateDecision } from '../rateLimit/rateDecision.ts'
import type { LimitRequest } from './usageLimits.ts'

/**
 * Takes the calls of a request from the local rate of its key.
 * @param next - Gets how many of the calls that passed may go on to the quota.
 */
export const takeRate = <Result>(
  rates: RateLimiter,
  { id, rate, calls, passed, weights }: LimitRequest,
  next: (passed: number, decision: RateDecision | undefined) => Result,
): Result => {
  if (rate === undefined) return next(passed, undefined)
  const decision = rates.take(id, rate, calls, weights)
  return next(Math.min(passed, decision.granted), decision)
}
