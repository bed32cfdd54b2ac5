import type { Hex } from '@keyrail/core'
import { invalidOption } from './invalidOption.ts'

/**
 * Checks bytes that are to be sent.
 *
 * @param value - `0x` and two hex digits for each byte.
 * @param name - What it is called where it was given, for the failure's message.
 * @param bytes - How many there must be: 20 for an address, 32 for a hash. @default any number
 * @throws {KeyrailError} kind `invalidRequest`, naming the mend.
 * @example
 * encodeHex('0xc0de', 'data') // '0xc0de'
 */
export function encodeHex(value: Hex, name: string, bytes?: number): Hex {
  const right =
    typeof value === 'string' &&
    (bytes === undefined ? value.length % 2 === 0 : value.length === 2 + 2 * bytes) &&
    /^0x[\da-f]*$/i.test(value)
  if (right) return value
  const length = bytes === undefined ? 'an even number of' : 2 * bytes
  const names = bytes === 20 ? ' (a name has to be resolved first)' : ''
  throw invalidOption(`${name} must be 0x and ${length} hex digits${names}`)
}
