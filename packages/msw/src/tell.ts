const told = new Set<string>()

/** Says something to the author of a test, once. */
export function tell(sentence: string): void {
  if (told.has(sentence)) return
  told.add(sentence)
  // oxlint-disable-next-line no-console -- The one place that speaks to a person: who writes a test looks there.
  console.warn(`[keyrail/msw] ${sentence}`)
}
