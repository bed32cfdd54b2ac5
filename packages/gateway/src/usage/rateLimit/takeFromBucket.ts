import type { RateDecision } from './rateDecision.ts'
import type { RateLimits } from './rateLimiter.ts'

/** What one call adds to a key's debt. Each millisecond pays off `perSecond`, so that all stays in whole numbers. */
export const bucket = 1000

/** How far ahead of its rate a key is. */
export interface BucketOwner {
  debt: number
  /** When the debt was that, in whole milliseconds. */
  at: number
}

/** What is said of calls of which so many were granted, to a key that had that debt before. */
export const decide = (
  debt: number,
  { perSecond, burst }: RateLimits,
  { calls, granted }: { calls: number; granted: number },
): RateDecision => {
  const most = burst * bucket
  const after = debt + granted * bucket
  const missing = Math.min(calls - granted, burst)
  return {
    granted,
    perSecond,
    remaining: Math.max(0, Math.floor((most - after) / bucket)),
    retryAfterMs: missing === 0 ? 0 : Math.ceil((after + missing * bucket - most) / perSecond),
    resetMs: Math.ceil(after / perSecond),
    currentPerSecond: Math.ceil(((debt + calls * bucket) * perSecond * 10) / most) / 10,
  }
}

/**
 * Takes calls from a key's allowance by the generic cell rate algorithm, kept as a debt that drains: of any span of time, no more than
 * `burst + perSecond × seconds` calls are granted, and nothing is rejected that would keep to that. Limits may be others each time.
 * @param time - In whole milliseconds. One that goes back pays nothing off.
 * @see ITU-T I.371 annex A
 */
export const takeFromBucket = (owner: BucketOwner, limits: RateLimits, calls: number, time: number): RateDecision => {
  const decision = previewTake(owner, limits, calls, time)
  owner.debt += decision.granted * bucket
  return decision
}

/** Returns what `takeFromBucket` would, and takes nothing. */
export const previewTake = (owner: BucketOwner, limits: RateLimits, calls: number, time: number): RateDecision => {
  if (time > owner.at) {
    owner.debt = Math.max(0, owner.debt - (time - owner.at) * limits.perSecond)
    owner.at = time
  }
  const { debt } = owner
  const granted = Math.max(0, Math.min(calls, Math.floor((limits.burst * bucket - debt) / bucket)))
  return decide(debt, limits, { calls, granted })
}
