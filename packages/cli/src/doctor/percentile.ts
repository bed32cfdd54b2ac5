/**
 * The value below or at which so many of a hundred values lie, by nearest rank.
 *
 * @param values - At least one, in any order.
 * @param percent - Above 0, at most 100.
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}
