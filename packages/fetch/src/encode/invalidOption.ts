import { KeyrailError } from '@keyrail/core'

/**
 * The failure of an option that cannot be right: nothing was sent.
 *
 * @param message - Names the option and the mend.
 */
export function invalidOption(message: string): KeyrailError {
  return new KeyrailError(message, { kind: 'invalidRequest', source: 'client', retryable: false })
}
