import { KeyrailError } from '@keyrail/core'

/**
 * The failure of an option or a control that cannot be right.
 *
 * @param message - Names it and the mend.
 */
export function refused(message: string): KeyrailError {
  return new KeyrailError(message, { kind: 'invalidRequest', source: 'client', retryable: false })
}
