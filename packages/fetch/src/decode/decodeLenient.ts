/**
 * Decodes a field that nobody computes with. It is undefined if it is missing or malformed: Tron's blocks have `stateRoot: "0x"`, for example, and
 * are of use without it.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response.
 * @param decode - Decodes the value.
 * @param bytes - Passed to `decode`.
 */
export function decodeLenient<T>(
  value: unknown,
  path: string,
  decode: (value: unknown, path: string, bytes?: number) => T,
  bytes?: number,
): T | undefined {
  try {
    return decode(value, path, bytes)
  } catch {
    return undefined
  }
}
