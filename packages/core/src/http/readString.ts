/**
 * Reads a string from an untrusted value, such as the error of a custom `fetch`: a getter of it may throw.
 *
 * @param read - Reads the value.
 * @returns The string; '' if the value is not a string or reading it throws.
 * @example
 * readString(() => Object(undefined).message) // ''
 */
export function readString(read: () => unknown): string {
  try {
    const text = read()
    if (typeof text === 'string') return text
  } catch {
    // A getter that throws counts as an empty string.
  }
  return ''
}
