import type { UsageView } from '@keyrail/gateway'

/** A quota that is used up, or nearly. */
export interface QuotaState {
  readonly period: 'daily' | 'monthly'
  readonly usage: UsageView['day']
  readonly isUsedUp: boolean
}

/** The share of a quota from which pages warn. */
const warnFrom = 0.8

/** Gets the quota that rejects requests first: one that is used up, or else one of which at least 80 % is used. */
export function getQuotaState(usage: Pick<UsageView, 'day' | 'month'> | undefined): QuotaState | undefined {
  if (usage === undefined) return undefined
  const states = (['month', 'day'] as const).flatMap((name): QuotaState[] => {
    const { used, limit } = usage[name]
    if (limit === null || used < limit * warnFrom) return []
    return [{ period: name === 'day' ? 'daily' : 'monthly', usage: usage[name], isUsedUp: used >= limit }]
  })
  return states.find(({ isUsedUp }) => isUsedUp) ?? states[0]
}
