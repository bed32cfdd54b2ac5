import { KeyrailError } from './keyrailError.ts'
import { findNearestName } from './findNearestName.ts'
import { describeType } from './describeType.ts'

/** Creates the error of a wrong option or a wrong call, which is never sent. */
export function invalidRequest(message: string): KeyrailError {
  return new KeyrailError(message, { kind: 'invalidRequest', source: 'client', retryable: false })
}

/**
 * Throws if a condition is false.
 *
 * @param ok - The condition.
 * @param message - What is wrong, with the name of the option, and how to fix it.
 * @throws {KeyrailError} kind `invalidRequest`.
 */
export function check(ok: unknown, message: string): asserts ok {
  if (!ok) throw invalidRequest(message)
}

/** Rejects a value that is not a number in a range, such as NaN. Accepts undefined, which means the default. A value of another type may be a misplaced secret, so it is not shown. */
export function checkRange(name: string, value: number | undefined, least: number, most: number): void {
  check(
    value === undefined || (typeof value === 'number' && value >= least && value <= most),
    `${name} must be a number from ${least} to ${most}, not ${typeof value === 'number' ? value : `of type ${typeof value}`}`,
  )
}

/** A longer name is not shown: it may be a misplaced secret. */
const MAX_SHOWN_NAME = 24

/**
 * Rejects a value that is not an object.
 *
 * @param of - The function or option that takes the object, for the message.
 * @param given - The value. It is not shown.
 * @param wanted - What the value should be. @default 'an object of options'
 */
export function checkObject(of: string, given: unknown, wanted = 'an object of options'): void {
  check(
    typeof given === 'object' && given && !Array.isArray(given),
    `${of} takes ${wanted}, not ${describeType(given)}`,
  )
}

/**
 * Rejects unknown option names, because a misspelt option would be ignored, and values that are not objects.
 *
 * @param of - The function that takes the options, for the message.
 * @param given - The options. Their values are not shown.
 * @param known - All names that exist.
 * @throws {KeyrailError} kind `invalidRequest`, with the nearest name, or all of them if none is near.
 * @example
 * checkNames('deadline', { timeout: 5 }, ['timeoutMs']) // throws: Unknown option "timeout". Did you mean "timeoutMs"?
 */
export function checkNames(of: string, given: object, known: readonly string[]): void {
  checkObject(of, given)
  for (const name in given)
    if (!known.includes(name)) {
      const shown = name.length > MAX_SHOWN_NAME ? '…' : name
      const nearest = findNearestName(name, known)
      throw invalidRequest(
        `Unknown option "${shown}". ` +
          (nearest ? `Did you mean "${nearest}"?` : `The options of ${of} are ${known.join(', ')}.`),
      )
    }
}
