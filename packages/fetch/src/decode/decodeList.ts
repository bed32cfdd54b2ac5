import { malformed } from './malformed.ts'

/**
 * Decodes an array of the wire.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @param decode - Decodes one item, given its path.
 * @throws {KeyrailError} kind `badResponse` if it is not an array, or if `decode` rejects an item.
 */
export function decodeList<T>(value: unknown, path: string, decode: (item: unknown, path: string) => T): T[] {
  if (!Array.isArray(value)) throw malformed(path, 'an array')
  return value.map((item, index) => decode(item, `${path}[${index}]`))
}
