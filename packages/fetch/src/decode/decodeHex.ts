import type { Hex } from '@keyrail/core'
import { malformed } from './malformed.ts'

/**
 * Checks a hex string of the wire and returns it unchanged.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @param bytes - The expected number of bytes. @default any number
 * @throws {KeyrailError} kind `badResponse` if it is not hex of that length.
 * @example
 * decodeHex('0xc0de', 'code') // '0xc0de'
 */
export function decodeHex(value: unknown, path: string, bytes?: number): Hex {
  const right =
    typeof value === 'string' &&
    (bytes === undefined ? value.length % 2 === 0 : value.length === 2 + 2 * bytes) &&
    /^0x[\da-f]*$/i.test(value)
  if (!right) throw malformed(path, bytes === undefined ? 'hex bytes' : `hex of ${bytes} bytes`)
  return value as Hex
}
