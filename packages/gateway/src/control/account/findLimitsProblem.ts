import type { AccountError } from './accountError.ts'
import type { UserLimits } from './operator.ts'

const limitRanges: Readonly<Record<keyof UserLimits, { readonly min: number; readonly max: number }>> = {
  perSecond: { min: 1, max: 1_000_000 },
  burst: { min: 1, max: 1_000_000 },
  perDay: { min: 0, max: 1e12 },
  perMonth: { min: 0, max: 1e12 },
}

/**
 * Describes how to fix a burst below the highest weight.
 * @param minBurst - The highest weight of a method.
 */
export const describeMinBurst = (minBurst: number): string =>
  `must be at least ${minBurst}, the highest weight of a method, because a call above the burst is never granted`

/**
 * Validates a user's limits.
 * @param minBurst - The highest weight of a method. @default 1
 * @returns An error that names the limit and the fix, or `undefined` if they are valid.
 */
export const findLimitsProblem = (limits: UserLimits | null, minBurst = 1): AccountError | undefined => {
  for (const [name, value] of Object.entries(limits ?? {})) {
    const range = Object.hasOwn(limitRanges, name) ? limitRanges[name as keyof UserLimits] : undefined
    if (range === undefined)
      return limitsError(`limits contains an unknown limit. Use ${Object.keys(limitRanges).join(', ')}.`, 'limits')
    const nullable = name !== 'burst'
    if (value === null ? !nullable : !Number.isSafeInteger(value) || value < range.min || value > range.max)
      return limitsError(
        `${name} must be a whole number from ${range.min} to ${range.max}${nullable ? ', or null for no limit' : ''}.`,
        `limits.${name}`,
      )
    if (name === 'burst' && value < minBurst) return limitsError(`burst ${describeMinBurst(minBurst)}.`, 'limits.burst')
  }
  return undefined
}

const limitsError = (message: string, field: string): AccountError => ({
  status: 422,
  code: 'limits_invalid',
  message,
  field,
})
