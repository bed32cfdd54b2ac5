import type { RateDecision } from '../../usage/rateLimit/rateLimiter.ts'
import type { QuotaGrant } from '../../usage/quota/quota.ts'

/** What a request's calls were granted: the first `granted` of them may go on. */
export interface TakenLimits {
  readonly granted: number
  /** `undefined` where the key has no rate. */
  readonly rate: RateDecision | undefined
  /** `undefined` where the key has no quota, or its rate left nothing to take. */
  readonly quota: QuotaGrant | undefined
}
