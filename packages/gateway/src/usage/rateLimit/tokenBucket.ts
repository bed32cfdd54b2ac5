import { countFitting, getCost } from '../limits/quotaCounter.ts'
import type { RateDecision, RateLimits } from './rateDecision.ts'

/** The units of one token. A bucket refills `perSecond` units per millisecond, so all arithmetic stays in whole numbers. */
export const unitsPerToken = 1000

/** The token bucket of one key. A full bucket has `spent` 0, so a change of `burst` needs no conversion. */
export interface TokenBucket {
  /** Units taken and not refilled yet, at `updatedAt`. */
  spent: number
  /** In whole milliseconds. */
  updatedAt: number
}

/** The request for tokens of a bucket. */
export interface BucketRequest {
  readonly calls: number
  /** The weights of the first calls, in tokens; the others take one each. */
  readonly weights?: readonly number[] | undefined
}

/** Builds the decision on a request of which `granted` calls were granted, for a bucket that had `spent` before. */
export const toRateDecision = (
  spent: number,
  { perSecond, burst }: RateLimits,
  { calls, weights, granted }: BucketRequest & { readonly granted: number },
): RateDecision => {
  const capacity = burst * unitsPerToken
  const wanted = getCost(calls, weights)
  const taken = getCost(granted, weights)
  const spentAfter = spent + taken * unitsPerToken
  const missing = Math.min(wanted - taken, burst)
  return {
    granted,
    perSecond,
    remaining: Math.max(0, Math.floor((capacity - spentAfter) / unitsPerToken)),
    retryAfterMs: missing === 0 ? 0 : Math.ceil((spentAfter + missing * unitsPerToken - capacity) / perSecond),
    resetMs: Math.ceil(spentAfter / perSecond),
    currentPerSecond: Math.ceil(((spent + wanted * unitsPerToken) * perSecond * 10) / capacity) / 10,
  }
}

/**
 * Takes the weight of each call. In any period it grants at most `burst + perSecond × seconds` tokens, and it grants every call that fits in
 * that bound. The limits may differ from call to call.
 * @param now - In whole milliseconds. A clock that steps back refills nothing.
 * @see ITU-T I.371 annex A, the equivalent generic cell rate algorithm
 */
export const takeTokens = (
  bucket: TokenBucket,
  limits: RateLimits,
  request: BucketRequest,
  now: number,
): RateDecision => {
  const decision = peekTokens(bucket, limits, request, now)
  bucket.spent += getCost(decision.granted, request.weights) * unitsPerToken
  return decision
}

/** Returns the decision of `takeTokens` without taking tokens. */
export const peekTokens = (
  bucket: TokenBucket,
  limits: RateLimits,
  { calls, weights }: BucketRequest,
  now: number,
): RateDecision => {
  if (now > bucket.updatedAt) {
    bucket.spent = Math.max(0, bucket.spent - (now - bucket.updatedAt) * limits.perSecond)
    bucket.updatedAt = now
  }
  const { spent } = bucket
  const available = Math.floor((limits.burst * unitsPerToken - spent) / unitsPerToken)
  return toRateDecision(spent, limits, { calls, weights, granted: countFitting(calls, weights, available) })
}
