/**
 * Decodes a field that some forks, chains or nodes do not have. Null counts as missing.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @param decode - Decodes the value if there is one.
 * @param bytes - Passed to `decode`.
 */
export function decodeOptional<T>(
  value: unknown,
  path: string,
  decode: (value: unknown, path: string, bytes?: number) => T,
  bytes?: number,
): T | undefined {
  return value === undefined || value === null ? undefined : decode(value, path, bytes)
}
