import { malformed } from './malformed.ts'

/**
 * Decodes a quantity of the wire as a bigint. Leading zeros are accepted because some nodes send them; more than 256 bits are rejected.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse` if it is not a hex quantity.
 * @example
 * decodeQuantity('0x10', 'balance') // 16n
 * @see execution-apis, schema `uint`
 */
export function decodeQuantity(value: unknown, path: string): bigint {
  if (typeof value !== 'string' || !/^0x[\da-f]{1,64}$/i.test(value)) throw malformed(path, 'a hex quantity')
  return BigInt(value)
}
