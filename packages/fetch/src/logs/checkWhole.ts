import { refused } from '../encode/refused.ts'

/**
 * Refuses an option that is no whole number in its range. Undefined passes: it means the default.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and its range.
 */
export function checkWhole(name: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return
  throw refused(`${name} must be a whole number from ${least} to ${most}`)
}
