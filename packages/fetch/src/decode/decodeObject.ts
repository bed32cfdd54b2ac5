import { malformed } from './malformed.ts'

/**
 * Checks that a value of the wire is an object. Its fields are still unchecked.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse` if it is not an object.
 */
export function decodeObject<Name extends string>(value: unknown, path: string): { readonly [name in Name]?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(path, 'an object')
  return value as { readonly [name in Name]?: unknown }
}
