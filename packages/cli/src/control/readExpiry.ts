import { wrongUsage } from '../cliError.ts'

/**
 * Reads `--expires`.
 *
 * @param text - A day (its beginning, in UTC), a time in ISO 8601, or `never`; undefined stays undefined.
 * @returns The time as the control API takes it; null for never.
 * @throws {CliError} exit code 2 for anything else.
 * @example
 * readExpiry('2027-01-31') // '2027-01-31T00:00:00.000Z'
 */
export function readExpiry(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined
  if (text === 'never') return null
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
  const at = isTime ? new Date(text) : undefined
  if (at === undefined || Number.isNaN(at.getTime())) {
    throw wrongUsage(
      '--expires is no time',
      'give a day such as 2027-01-31, a time such as 2027-01-31T12:00Z, or never',
    )
  }
  return at.toISOString()
}
