import { malformed } from './malformed.ts'

/**
 * Decodes an array of the wire.
 *
 * @param value - What the node sent.
 * @param what - Its path in the response, for the error message.
 * @param decode - Decodes one item, given its path.
 * @throws {KeyrailError} kind `badResponse` if it is not an array, or if `decode` rejects an item.
 */
export function decodeList<T>(value: unknown, what: string, decode: (item: unknown, what: string) => T): T[] {
  if (!Array.isArray(value)) throw malformed(what, 'an array')
  return value.map((item, index) => decode(item, `${what}[${index}]`))
}
