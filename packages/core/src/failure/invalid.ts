import { KeyrailError } from './keyrailError.ts'

/** A failure on this side, before anything was sent: a wrong option or a wrong call. */
export function invalid(message: string): KeyrailError {
  return new KeyrailError(message, { kind: 'invalidRequest', source: 'client', retryable: false })
}

/** Refuses what is not as it must be, in words that name the option and the mend. */
export function check(ok: unknown, message: string): asserts ok {
  if (!ok) throw invalid(message)
}

/** Refuses a number that is out of range, NaN included. Undefined passes: it means the default. What is no number may be a misplaced secret, and is not repeated. */
export function checkRange(name: string, value: number | undefined, least: number, most: number): void {
  check(
    value === undefined || (typeof value === 'number' && value >= least && value <= most),
    `${name} must be a number from ${least} to ${most}, not ${typeof value === 'number' ? value : `of type ${typeof value}`}`,
  )
}

/** Refuses what is no options object, and names that do not exist: a misspelt option would be ignored. */
export function checkNames(of: string, given: object, known: readonly string[]): void {
  check(given && typeof given === 'object', `${of} takes an object of options`)
  for (const name in given) check(known.includes(name), `${name} is no option of ${of}, which are ${known.join(', ')}`)
}
