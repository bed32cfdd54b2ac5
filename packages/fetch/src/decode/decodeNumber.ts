import { decodeQuantity } from './decodeQuantity.ts'
import { malformed } from './malformed.ts'

/**
 * Reads a quantity of the wire as a number: an index, a count, an id.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for the failure's message.
 * @throws {KeyrailError} kind `badResponse` where it is no hex quantity, or above 2^53-1.
 * @example
 * decodeNumber('0x10', 'nonce') // 16
 */
export function decodeNumber(value: unknown, what: string): number {
  const number = Number(decodeQuantity(value, what))
  if (!Number.isSafeInteger(number)) throw malformed(what, 'below 2^53')
  return number
}
