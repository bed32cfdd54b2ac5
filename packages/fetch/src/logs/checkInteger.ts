import { invalidOption } from '../encode/invalidOption.ts'

/**
 * Refuses an option that is no whole number in its range. Undefined passes: it means the default.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option, its range and the value. What is no number may be a misplaced secret, and
 *   is not repeated.
 */
export function checkInteger(name: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return
  const given = typeof value === 'number' ? value : `of type ${typeof value}`
  throw invalidOption(`${name} must be a whole number from ${least} to ${most}, not ${given}`)
}
