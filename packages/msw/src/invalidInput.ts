import { KeyrailError } from '@keyrail/core'

/**
 * Creates the error for a wrong option or argument.
 *
 * @param message - What is wrong, with the value, and how to fix it. Never include a secret.
 */
export function invalidInput(message: string): KeyrailError {
  return new KeyrailError(message, { kind: 'invalidRequest', source: 'client', retryable: false })
}

/** A longer string may be a misplaced secret. */
const maxShownLength = 24

/** A value as error messages show it. The content of long strings and of objects stays hidden, because it may be a secret. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string' && value.length <= maxShownLength) return JSON.stringify(value)
  return typeof value === 'string' || typeof value === 'function' || Object(value) === value
    ? `of type ${typeof value}`
    : String(value)
}

/** @throws {KeyrailError} kind `invalidRequest` if a value is not an integer of `least` or more. */
export function checkInteger(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw invalidInput(`${name} is ${describeValue(value)}. Use an integer of ${least} or more`)
}
