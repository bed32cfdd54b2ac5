import { malformed } from './malformed.ts'

/**
 * Reads a quantity of the wire as a bigint. Leading zeros are let pass, as some nodes send them; more than 256 bits are not.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for the failure's message.
 * @throws {KeyrailError} kind `badResponse` where it is no hex quantity.
 * @example
 * decodeQuantity('0x10', 'balance') // 16n
 * @see execution-apis, schema `uint`
 */
export function decodeQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[\da-f]{1,64}$/i.test(value)) throw malformed(what, 'a hex quantity')
  return BigInt(value)
}
