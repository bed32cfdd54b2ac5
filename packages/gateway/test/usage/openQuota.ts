import { createLocalLimits } from '../../src/usage/limits/createLocalLimits.ts'
import type { LocalLimitsOptions } from '../../src/usage/limits/createLocalLimits.ts'
import type { QuotaAccount, QuotaGrant, UsageLimits } from '../../src/usage/limits/usageLimits.ts'

/** Limits without rates. */
export interface TestQuota extends Pick<UsageLimits, 'giveBack' | 'usage' | 'close'> {
  take(account: QuotaAccount, calls: number, weights?: readonly number[]): QuotaGrant | Promise<QuotaGrant>
}

/** Returns the quota's part of a grant. */
export const getQuota = (grant: { readonly quota: QuotaGrant | undefined }): QuotaGrant => {
  if (grant.quota === undefined) throw new Error('there is no quota')
  return grant.quota
}

/** Creates local limits. */
export const openQuota = (options: LocalLimitsOptions): TestQuota => {
  const limits = createLocalLimits(options)
  return {
    ...limits,
    take: (account, calls, weights) => {
      const grant = limits.take({ id: 'key_1', rate: undefined, account, calls, passed: calls, weights })
      return grant instanceof Promise ? grant.then(getQuota) : getQuota(grant)
    },
  }
}
