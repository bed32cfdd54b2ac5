import { normalizeWeights } from '../../proxy/method/weights.ts'
import type { MethodWeights } from '../../proxy/method/weights.ts'
import type { QuotaWindow, UsageLimits } from '../../usage/limits/usageLimits.ts'
import type { LimitsView } from '../contract/limits.ts'
import type { UsageView, UsageWindow } from '../contract/usage.ts'
import { isoTime } from './times.ts'

const toUsageWindow = ({ used, limit, resetAtMs }: QuotaWindow): UsageWindow => ({
  used,
  limit,
  remaining: limit === null ? null : Math.max(0, limit - used),
  resetAt: isoTime(resetAtMs),
})

/**
 * Gets the usage of an account's or an app's limits.
 * @param id - The quota account: `user:usr_…` or `app:app_…`.
 */
export const toUsageView = async (
  usageLimits: Pick<UsageLimits, 'usage'>,
  { id, limits, weights }: { id: string; limits: LimitsView; weights?: MethodWeights | undefined },
): Promise<UsageView> => {
  const { day, month } = await usageLimits.usage({ id, perDay: limits.perDay, perMonth: limits.perMonth })
  return { day: toUsageWindow(day), month: toUsageWindow(month), limits, weights: normalizeWeights(weights) }
}
