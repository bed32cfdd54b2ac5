import type { KeyLimits } from './keyStore.ts'

const most = 1_000_000_000
/** What a rate limit counts up to. */
const mostAtOnce = 1_000_000

const isCount = (value: unknown, least: number, highest: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= highest

/**
 * Checks limits, and copies them.
 * @throws {TypeError} where one is out of its range. The message names it.
 */
export const checkKeyLimits = ({ perSecond, burst, perDay, perMonth }: KeyLimits): KeyLimits => {
  if (perSecond !== null && !isCount(perSecond, 1, mostAtOnce))
    throw new TypeError(`limits.perSecond must be a whole number from 1 to ${mostAtOnce}, or null for none`)
  if (!isCount(burst, 1, mostAtOnce)) throw new TypeError(`limits.burst must be a whole number from 1 to ${mostAtOnce}`)
  if (perDay !== null && !isCount(perDay, 0, most))
    throw new TypeError(`limits.perDay must be a whole number from 0 to ${most}, or null for none`)
  if (perMonth !== null && !isCount(perMonth, 0, most))
    throw new TypeError(`limits.perMonth must be a whole number from 0 to ${most}, or null for none`)
  return { perSecond, burst, perDay, perMonth }
}

/**
 * The limits in force: what is stored with an app or a user, member by member, over what the service gives everybody.
 * A member that is stored wrongly counts as not stored: it was checked when it was written, and no call may fail by it.
 * @param layers - The strongest first; `null` where nothing is stored.
 * @param given - What holds where no layer says anything.
 * @example
 * const everybody = { perSecond: 100, burst: 1000, perDay: 100_000, perMonth: null }
 * limitsInForce([{ perDay: 500 }, null], everybody).perDay // 500
 */
export const limitsInForce = (
  layers: readonly (Readonly<Record<string, unknown>> | null)[],
  given: KeyLimits,
): KeyLimits => {
  const found = (name: keyof KeyLimits, least: number, highest: number): number | null | undefined => {
    for (const layer of layers) {
      if (layer === null || !Object.hasOwn(layer, name)) continue
      const value = layer[name]
      if (value === null || isCount(value, least, highest)) return value
    }
    return undefined
  }
  const orGiven = (name: 'perSecond' | 'perDay' | 'perMonth', least: number, highest: number): number | null => {
    const value = found(name, least, highest)
    return value === undefined ? given[name] : value
  }
  return {
    perSecond: orGiven('perSecond', 1, mostAtOnce),
    burst: found('burst', 1, mostAtOnce) ?? given.burst,
    perDay: orGiven('perDay', 0, most),
    perMonth: orGiven('perMonth', 0, most),
  }
}
