import { monotonicClock } from '../../src/lib/clock.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { createLocalLimits } from '../../src/usage/limits/createLocalLimits.ts'
import type { LocalLimitsOptions } from '../../src/usage/limits/createLocalLimits.ts'
import type { Quota, QuotaGrant, UsageLimits } from '../../src/usage/limits/usageLimits.ts'

/**
 * How long requests in tests wait for a store: as long as a busy machine may take. A test of patience passes it with {@link createPassableClock}.
 */
export const patienceMs = 60_000

/** A clock of limits. */
export interface PassableClock {
  readonly clock: Clock
  /** Advances it by `patienceMs`, so that the requests that wait now have waited too long. */
  readonly passPatience: () => void
}

/** Creates a monotonic clock of which a test can skip a part. */
export const createPassableClock = (): PassableClock => {
  const real = monotonicClock()
  let passedMs = 0
  return { clock: () => real() + passedMs, passPatience: () => void (passedMs += patienceMs) }
}

/** Limits without rates. */
export interface TestQuota extends Pick<UsageLimits, 'giveBack' | 'usage' | 'close'> {
  take(quota: Quota, calls: number, weights?: readonly number[]): QuotaGrant | Promise<QuotaGrant>
}

/** Returns the quota's part of a grant. */
export const getQuota = (grant: { readonly quota: QuotaGrant | undefined }): QuotaGrant => {
  if (grant.quota === undefined) throw new Error('there is no quota')
  return grant.quota
}

/** Creates local limits that wait for their database for {@link patienceMs}. */
export const openQuota = (options: LocalLimitsOptions): TestQuota => {
  const limits = createLocalLimits({ patienceMs, ...options })
  return {
    ...limits,
    take: (quota, calls, weights) => {
      const grant = limits.take({ id: 'key_1', rate: undefined, quota, calls, passed: calls, weights })
      return grant instanceof Promise ? grant.then(getQuota) : getQuota(grant)
    },
  }
}
