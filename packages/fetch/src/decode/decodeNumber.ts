import { decodeQuantity } from './decodeQuantity.ts'
import { malformed } from './malformed.ts'

/**
 * Decodes a quantity of the wire as a number, such as an index, a count or an ID.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse` if it is not a hex quantity, or above 2^53-1.
 * @example
 * decodeNumber('0x10', 'nonce') // 16
 */
export function decodeNumber(value: unknown, path: string): number {
  const number = Number(decodeQuantity(value, path))
  if (!Number.isSafeInteger(number)) throw malformed(path, 'below 2^53')
  return number
}
