import { limitsInForce } from './keyLimits.ts'
import type { KeyLimits } from './keyStore.ts'

const lower = (own: number | null, most: number | null): number | null =>
  own === null || most === null ? (own ?? most) : Math.min(own, most)

/**
 * What an owner's own limits leave of what the account may use: they can only narrow it, also where the operator lowered it since they were set.
 * @param own - As stored with an app; `null` where nothing is. What is stored wrongly counts as not stored.
 * @param most - What the account may use.
 * @example
 * narrowLimits({ perDay: 500 }, { perSecond: null, burst: 1000, perDay: 100, perMonth: null }).perDay // 100
 */
export const narrowLimits = (own: Readonly<Record<string, unknown>> | null, most: KeyLimits): KeyLimits => {
  const asked = limitsInForce([own], most)
  return {
    perSecond: lower(asked.perSecond, most.perSecond),
    burst: Math.min(asked.burst, most.burst),
    perDay: lower(asked.perDay, most.perDay),
    perMonth: lower(asked.perMonth, most.perMonth),
  }
}
