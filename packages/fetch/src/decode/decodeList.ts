import { malformed } from './malformed.ts'

/**
 * Reads an array of the wire, item by item.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for the failure's message.
 * @param decode - Reads one item, given its own place.
 * @throws {KeyrailError} kind `badResponse` where it is no array, or as `decode` does.
 */
export function decodeList<T>(value: unknown, what: string, decode: (item: unknown, what: string) => T): T[] {
  if (!Array.isArray(value)) throw malformed(what, 'an array')
  return value.map((item, index) => decode(item, `${what}[${index}]`))
}
