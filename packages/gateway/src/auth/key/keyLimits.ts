import type { KeyLimits } from './keyStore.ts'

const maxQuota = 1_000_000_000
/** The maximum of the rate limiter. */
const maxRate = 1_000_000

const isCount = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max

/**
 * Resolves the effective limits: each member stored with an app or user overrides the default. An invalid stored member is ignored: it was
 * checked when it was written, and no call may fail because of it.
 * @param layers - The stored limits, highest priority first; `null` if nothing is stored.
 * @param defaults - The limits of members that no layer has.
 * @example
 * const defaults = { perSecond: 100, burst: 1000, perDay: 100_000, perMonth: null }
 * resolveLimits([{ perDay: 500 }, null], defaults).perDay // 500
 */
export const resolveLimits = (
  layers: readonly (Readonly<Record<string, unknown>> | null)[],
  defaults: KeyLimits,
): KeyLimits => {
  const find = (name: keyof KeyLimits, min: number, max: number): number | null | undefined => {
    for (const layer of layers) {
      if (layer === null || !Object.hasOwn(layer, name)) continue
      const value = layer[name]
      if (value === null || isCount(value, min, max)) return value
    }
    return undefined
  }
  const getNullable = (name: 'perSecond' | 'perDay' | 'perMonth', min: number, max: number): number | null => {
    const value = find(name, min, max)
    return value === undefined ? defaults[name] : value
  }
  return {
    perSecond: getNullable('perSecond', 1, maxRate),
    burst: find('burst', 1, maxRate) ?? defaults.burst,
    perDay: getNullable('perDay', 0, maxQuota),
    perMonth: getNullable('perMonth', 0, maxQuota),
  }
}

const min = (own: number | null, account: number | null): number | null =>
  own === null || account === null ? (own ?? account) : Math.min(own, account)

/**
 * Applies an app's own limits. They can only narrow the limits of the account, also if the operator lowered those later.
 * @param own - As stored with the app; `null` if nothing is stored. Invalid members are ignored.
 * @param account - The limits of the account.
 * @example
 * narrowLimits({ perDay: 500 }, { perSecond: null, burst: 1000, perDay: 100, perMonth: null }).perDay // 100
 */
export const narrowLimits = (own: Readonly<Record<string, unknown>> | null, account: KeyLimits): KeyLimits => {
  const resolved = resolveLimits([own], account)
  return {
    perSecond: min(resolved.perSecond, account.perSecond),
    burst: Math.min(resolved.burst, account.burst),
    perDay: min(resolved.perDay, account.perDay),
    perMonth: min(resolved.perMonth, account.perMonth),
  }
}
