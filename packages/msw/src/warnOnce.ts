/**
 * Prints a warning for the author of a test, once.
 *
 * @param printed - The warnings that the node has already printed.
 * @param message - The warning.
 */
export function warnOnce(printed: Set<string>, message: string): void {
  if (printed.has(message)) return
  printed.add(message)
  // oxlint-disable-next-line no-console -- Authors of tests read the output of their tests.
  console.warn(`[keyrail/msw] ${message}`)
}
