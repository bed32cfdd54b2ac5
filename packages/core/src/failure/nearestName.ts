/** How many characters must be inserted, removed, replaced or swapped with their neighbour to make one text of the other. */
function editDistance(one: string, other: string): number {
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

/** Whether two texts have nearly all of the shorter one as their start, as `trace` and `tracing` do. A start as short as `max` says little. */
function startAlike(one: string, other: string): boolean {
  let shared = 0
  while (shared < one.length && one[shared] === other[shared]) shared++
  return shared >= 4 && shared >= 0.75 * Math.min(one.length, other.length)
}

/**
 * Finds the name that was most likely meant by a misspelt one. Letter case and underscores do not count.
 *
 * @param name - What was written.
 * @param known - The names that exist.
 * @returns The nearest one within a third of the length of `name`, or one that starts like it; undefined if none is near.
 * @example
 * nearestName('timeout', ['timeoutMs', 'retry']) // 'timeoutMs'
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll('_', '')
  const wanted = plain(name)
  let nearest: string | undefined
  let least = Infinity
  for (const candidate of known) {
    const other = plain(candidate)
    const distance = editDistance(wanted, other)
    // The first letter is rarely wrong.
    const most = wanted[0] === other[0] ? Math.ceil(wanted.length / 3) : 1
    if (distance >= least || (distance > most && !startAlike(wanted, other))) continue
    least = distance
    nearest = candidate
  }
  return nearest
}
