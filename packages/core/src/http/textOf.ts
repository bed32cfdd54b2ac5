/**
 * Reads a text from a value that may be anything and may throw when it is read, such as what a given `fetch` rejected with.
 *
 * @param read - Reads it.
 * @returns '' where it is no text or throws.
 * @example
 * textOf(() => Object(undefined).message) // ''
 */
export function textOf(read: () => unknown): string {
  try {
    const text = read()
    if (typeof text === 'string') return text
  } catch {
    // The same as no text.
  }
  return ''
}
