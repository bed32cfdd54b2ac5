/**
 * Reads a field that may be missing: some forks, chains and nodes have it and some have not. Null counts as missing.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for the failure's message.
 * @param decode - Reads it where it is given.
 * @param bytes - Handed on to `decode`.
 */
export function decodeOptional<T>(
  value: unknown,
  what: string,
  decode: (value: unknown, what: string, bytes?: number) => T,
  bytes?: number,
): T | undefined {
  return value === undefined || value === null ? undefined : decode(value, what, bytes)
}
