/**
 * Prints a warning to the author of a test.
 *
 * @param printed - The sentences that the node has printed already. Those are not printed again.
 * @param sentence - What to print.
 */
export function warnOnce(printed: Set<string>, sentence: string): void {
  if (printed.has(sentence)) return
  printed.add(sentence)
  // oxlint-disable-next-line no-console -- Authors of tests read the output of their tests.
  console.warn(`[keyrail/msw] ${sentence}`)
}
