import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { RateDecision } from '../rateLimit/rateDecision.ts'
import type { LimitGrant, LimitRequest, QuotaAccount, QuotaGrant } from './usageLimits.ts'

/** Takes the calls of a request from the local rate of its key. @returns `undefined`: the key has no rate limit. */
export const takeRate = (rates: RateLimiter, { id, rate, calls, weights }: LimitRequest): RateDecision | undefined =>
  rate === undefined ? undefined : rates.take(id, rate, calls, weights)

/** Returns how many of the calls that passed request units of the quota. */
export const countRequested = ({ passed }: LimitRequest, rate: RateDecision | undefined): number =>
  rate === undefined ? passed : Math.min(passed, rate.granted)

/**
 * Takes the calls of a request from the local rate of its key, and then those that it granted from the quota.
 * @param takeQuota - Takes units of the quota for this number of calls.
 * @returns A promise if `takeQuota` returns one, and `undefined` if it returns `undefined`.
 */
export function takeRateThenQuota<Quota extends Promise<QuotaGrant> | undefined>(
  rates: RateLimiter,
  request: LimitRequest,
  takeQuota: (account: QuotaAccount, calls: number) => QuotaGrant | Quota,
): LimitGrant | (Quota extends undefined ? undefined : Promise<LimitGrant>)
export function takeRateThenQuota(
  rates: RateLimiter,
  request: LimitRequest,
  takeQuota: (account: QuotaAccount, calls: number) => QuotaGrant | Promise<QuotaGrant> | undefined,
): LimitGrant | Promise<LimitGrant> | undefined {
  const rate = takeRate(rates, request)
  const calls = countRequested(request, rate)
  if (request.account === undefined || calls === 0) return { granted: calls, rate, quota: undefined }
  const quota = takeQuota(request.account, calls)
  if (quota instanceof Promise) return quota.then((later) => ({ granted: later.granted, rate, quota: later }))
  return quota && { granted: quota.granted, rate, quota }
}
