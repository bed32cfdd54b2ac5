/** A range of blocks, both inclusive. */
export interface BlockRange {
  readonly first: number
  readonly last: number
}

/**
 * Removes what is covered from a range.
 * @param covered - In any order. They may overlap.
 * @returns What is left, in order.
 */
export const subtractRanges = (range: BlockRange, covered: readonly BlockRange[]): readonly BlockRange[] => {
  const left: BlockRange[] = []
  let { first } = range
  for (const one of covered.toSorted((a, b) => a.first - b.first)) {
    if (one.first > range.last) break
    if (one.first > first) left.push({ first, last: one.first - 1 })
    first = Math.max(first, one.last + 1)
  }
  if (first <= range.last) left.push({ first, last: range.last })
  return left
}

/** Gets the smallest range that contains all of them; `undefined` if there are none. */
export const getHull = (ranges: readonly BlockRange[]): BlockRange | undefined => {
  let hull: BlockRange | undefined
  for (const { first, last } of ranges)
    hull =
      hull === undefined ? { first, last } : { first: Math.min(hull.first, first), last: Math.max(hull.last, last) }
  return hull
}

/** Gets what is in both ranges; `undefined` if that is nothing. */
export const intersect = (one: BlockRange, other: BlockRange): BlockRange | undefined => {
  const both = { first: Math.max(one.first, other.first), last: Math.min(one.last, other.last) }
  return both.first <= both.last ? both : undefined
}
