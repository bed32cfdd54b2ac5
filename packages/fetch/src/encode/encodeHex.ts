import type { Hex } from '@keyrail/core'
import { invalidOption } from './invalidOption.ts'

/**
 * Checks a hex string before it is sent.
 *
 * @param value - `0x` and two hex digits per byte.
 * @param name - The option's name, for the error message.
 * @param bytes - The expected number of bytes: 20 for an address, 32 for a hash. @default any number
 * @throws {KeyrailError} kind `invalidRequest`. The message says how to fix it.
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
  const names = bytes === 20 ? ' (resolve a name such as vitalik.eth first)' : ''
  throw invalidOption(`${name} must be 0x and ${length} hex digits${names}`)
}
