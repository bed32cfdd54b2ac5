import { invalidRequest } from './check.ts'

/**
 * Rejects an option that is not a whole number in its range. Undefined is valid and means the default.
 *
 * @throws {KeyrailError} kind `invalidRequest`, with the option, its range and the value. A value that is not a number may be a misplaced
 *   secret, so the message gives only its type.
 */
export function checkInteger(name: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return
  const given = typeof value === 'number' ? value : `of type ${typeof value}`
  throw invalidRequest(`${name} must be a whole number from ${least} to ${most}, not ${given}`)
}
