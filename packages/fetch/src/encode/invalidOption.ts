import { KeyrailError } from '@keyrail/core'

/**
 * Creates the error for a wrong option. Nothing was sent.
 *
 * @param message - Names the option and how to fix it.
 */
export function invalidOption(message: string): KeyrailError {
  return new KeyrailError(message, { kind: 'invalidRequest', source: 'client', retryable: false })
}
