import { KeyrailError } from './keyrailError.ts'
import { nearestName } from './nearestName.ts'
import { typeName } from './typeName.ts'

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

/** A longer name may be a secret that is misplaced. */
const MAX_SHOWN_NAME = 24

/**
 * Rejects what is not an object.
 *
 * @param of - Who takes the options, for the message.
 * @param given - What was given. It is not shown.
 * @param wanted - What it should be. @default 'an object of options'
 */
export function checkObject(of: string, given: unknown, wanted = 'an object of options'): void {
  check(typeof given === 'object' && given && !Array.isArray(given), `${of} takes ${wanted}, not ${typeName(given)}`)
}

/**
 * Rejects what is not an object of options, and names that do not exist: a misspelt option would be ignored.
 *
 * @param of - Who takes the options, for the message.
 * @param given - The options. Their values are not shown.
 * @param known - Every name there is.
 * @throws {KeyrailError} kind `invalidRequest`, with the nearest name, or all of them if none is near.
 * @example
 * checkNames('deadline', { timeout: 5 }, ['timeoutMs']) // throws: Unknown option "timeout". Did you mean "timeoutMs"?
 */
export function checkNames(of: string, given: object, known: readonly string[]): void {
  checkObject(of, given)
  for (const name in given)
    if (!known.includes(name)) {
      const shown = name.length > MAX_SHOWN_NAME ? '…' : name
      const nearest = nearestName(name, known)
      throw invalid(
        `Unknown option "${shown}". ` +
          (nearest ? `Did you mean "${nearest}"?` : `The options of ${of} are ${known.join(', ')}.`),
      )
    }
}
