import type { RateLimiter } from '../rateLimit/createRateLimiter.ts'
import type { LimitGrant, LimitRequest, Quota, QuotaGrant } from './usageLimits.ts'

/**
 * Takes the calls of a request from the local rate of its key, and then those that it granted from the quota.
 * @param takeQuota - Takes units of the quota for this number of calls.
 * @returns A promise if `takeQuota` returns one, and `undefined` if it returns `undefined`.
 */
export function takeRateThenQuota<Later extends Promise<QuotaGrant> | undefined>(
  rates: RateLimiter,
  request: LimitRequest,
  takeQuota: (quota: Quota, calls: number) => QuotaGrant | Later,
): LimitGrant | (Later extends undefined ? undefined : Promise<LimitGrant>)
export function takeRateThenQuota(
  rates: RateLimiter,
  request: LimitRequest,
  takeQuota: (quota: Quota, calls: number) => QuotaGrant | Promise<QuotaGrant> | undefined,
): LimitGrant | Promise<LimitGrant> | undefined {
  const { id, quota, calls, passed, weights } = request
  const rate = request.rate && rates.take(id, request.rate, calls, weights)
  const requested = rate === undefined ? passed : Math.min(passed, rate.granted)
  if (quota === undefined || requested === 0) return { granted: requested, rate, quota: undefined }
  const taken = takeQuota(quota, requested)
  if (taken instanceof Promise) return taken.then((later) => ({ granted: later.granted, rate, quota: later }))
  return taken && { granted: taken.granted, rate, quota: taken }
}
