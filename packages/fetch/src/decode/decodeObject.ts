import { malformed } from './malformed.ts'

/**
 * Checks that something of the wire is an object, whose fields are still to be read with distrust.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for the failure's message.
 * @throws {KeyrailError} kind `badResponse` where it is none.
 */
export function decodeObject<Name extends string>(value: unknown, what: string): { readonly [name in Name]?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(what, 'an object')
  return value as { readonly [name in Name]?: unknown }
}
