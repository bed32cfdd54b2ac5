/** How many characters must be inserted, removed, replaced or swapped with their neighbour to turn one text into the other. */
function getEditDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (last[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1)
      let least = Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1)
      if (one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, (beforeLast[j - 2] as number) + 1)
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return last[other.length] as number
}

/** Whether two texts share a start that is most of the shorter one, such as `trace` and `tracing`. Starts of fewer than 4 characters do not count. */
function haveSameStart(one: string, other: string): boolean {
  let shared = 0
  while (shared < one.length && one[shared] === other[shared]) shared++
  return shared >= 4 && shared >= 0.75 * Math.min(one.length, other.length)
}

/**
 * Finds the known name that is most like a misspelt one. Ignores letter case and underscores.
 *
 * @param name - The misspelt name.
 * @param known - The names that exist.
 * @param most - The largest edit distance. @default a third of the length of `name`; then a name with the same start is near at any distance
 * @returns The nearest one; undefined if none is near.
 * @example
 * findNearestName('timeout', ['timeoutMs', 'retry']) // 'timeoutMs'
 */
export function findNearestName(name: string, known: readonly string[], most?: number): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll('_', '')
  const wanted = plain(name)
  let nearest: string | undefined
  let least = Infinity
  for (const candidate of known) {
    const other = plain(candidate)
    // A name that was cut short, such as eth_getBlock, is nearer to its whole forms than to another short name. The shortest form is the nearest.
    const isCut = wanted.length >= 4 && other.startsWith(wanted)
    const distance = isCut ? 1 + (other.length - wanted.length) / 100 : getEditDistance(wanted, other)
    // The first letter is rarely wrong.
    const limit = wanted[0] === other[0] ? (most ?? Math.ceil(wanted.length / 3)) : 1
    if (distance >= least || (distance > limit && (most !== undefined || !haveSameStart(wanted, other)))) continue
    least = distance
    nearest = candidate
  }
  return nearest
}
