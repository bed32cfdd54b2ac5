import { decodeQuantity } from './decodeQuantity.ts'
import { malformed } from './malformed.ts'

/**
 * Decodes a quantity of the wire as a number, such as an index, a count or an ID.
 *
 * @param value - What the node sent.
 * @param what - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse` if it is not a hex quantity, or above 2^53-1.
 * @example
 * decodeNumber('0x10', 'nonce') // 16
 */
export function decodeNumber(value: unknown, what: string): number {
  const number = Number(decodeQuantity(value, what))
  if (!Number.isSafeInteger(number)) throw malformed(what, 'below 2^53')
  return number
}
