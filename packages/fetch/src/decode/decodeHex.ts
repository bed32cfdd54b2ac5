import type { Hex } from '@keyrail/core'
import { malformed } from './malformed.ts'

/**
 * Checks bytes of the wire: they stay the hex string they are.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for the failure's message.
 * @param bytes - How many there must be. @default any whole number
 * @throws {KeyrailError} kind `badResponse` where it is not hex of that length.
 * @example
 * decodeHex('0xc0de', 'code') // '0xc0de'
 */
export function decodeHex(value: unknown, what: string, bytes?: number): Hex {
  const right =
    typeof value === 'string' &&
    (bytes === undefined ? value.length % 2 === 0 : value.length === 2 + 2 * bytes) &&
    /^0x[\da-f]*$/i.test(value)
  if (!right) throw malformed(what, bytes === undefined ? 'hex bytes' : `hex of ${bytes} bytes`)
  return value as Hex
}
