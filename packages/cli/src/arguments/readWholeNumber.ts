import { wrongUsage } from '../cliError.ts'

/**
 * Parses an option that is a whole number.
 *
 * @param name - The option, for the error: `--port`.
 * @param text - The value; undefined stays undefined.
 * @param range - The allowed range, inclusive.
 * @throws {CliError} exit code 2 for any other value.
 */
export function readWholeNumber(
  name: string,
  text: string | undefined,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= range.min && value <= range.max) return value
  throw wrongUsage(`${name} must be a whole number from ${range.min} to ${range.max}`)
}
