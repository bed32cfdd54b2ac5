import { wrongUsage } from '../cliError.ts'

/**
 * Reads `--expires`.
 *
 * @param text - A date (00:00 UTC), an ISO 8601 time, or `never`; undefined stays undefined.
 * @returns The time as the control API expects it; null for never.
 * @throws {CliError} exit code 2 if it is invalid.
 * @example
 * readExpiry('2027-01-31') // '2027-01-31T00:00:00.000Z'
 */
export function readExpiry(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined
  if (text === 'never') return null
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
  const at = isTime ? new Date(text) : undefined
  if (at === undefined || Number.isNaN(at.getTime())) {
    throw wrongUsage('--expires must be a date, a time or never', 'for example 2027-01-31 or 2027-01-31T12:00Z')
  }
  return at.toISOString()
}
