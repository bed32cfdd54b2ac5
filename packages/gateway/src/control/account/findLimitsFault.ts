import type { AccountError } from './accountError.ts'
import type { UserLimits } from './operator.ts'

const mostOf: Readonly<Record<keyof UserLimits, { readonly least: number; readonly most: number }>> = {
  perSecond: { least: 1, most: 1_000_000 },
  burst: { least: 1, most: 1_000_000 },
  perDay: { least: 0, most: 1e12 },
  perMonth: { least: 0, most: 1e12 },
}

/**
 * Says what is wrong with a user's limits.
 * @returns A rejection that names the member and the fix, or `undefined` where they will do.
 */
export const findLimitsFault = (limits: UserLimits | null): AccountError | undefined => {
  for (const [name, value] of Object.entries(limits ?? {})) {
    const range = Object.hasOwn(mostOf, name) ? mostOf[name as keyof UserLimits] : undefined
    if (range === undefined)
      return rejectLimits(`limits has no member of this name: there are ${Object.keys(mostOf).join(', ')}`, 'limits')
    const mayBeNone = name !== 'burst'
    if (value === null ? !mayBeNone : !Number.isSafeInteger(value) || value < range.least || value > range.most)
      return rejectLimits(
        `${name} must be a whole number from ${range.least} to ${range.most}${mayBeNone ? ', or null for none' : ''}`,
        `limits.${name}`,
      )
  }
  return undefined
}

const rejectLimits = (message: string, field: string): AccountError => ({
  status: 422,
  code: 'limits_invalid',
  message,
  field,
})
