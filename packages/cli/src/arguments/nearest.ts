/** Computes the Levenshtein distance; swapping adjacent letters counts as one edit. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1)
      ;(rows[i] as number[])[j] = least
    }
  }
  return at(a.length, b.length)
}

/**
 * Finds the most similar name.
 *
 * @param given - The input.
 * @param names - The valid names.
 * @returns The closest name; undefined if more than a third of its letters differ.
 * @example
 * nearest('--prot', ['--port', '--data']) // '--port'
 */
export function nearest(given: string, names: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const name of names) {
    const steps = given.length > 2 && name.startsWith(given) ? 0 : distance(given, name)
    if (steps < least && steps <= Math.max(1, Math.floor(name.length / 3))) {
      best = name
      least = steps
    }
  }
  return best
}
