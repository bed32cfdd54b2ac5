/** The middle value; of an even count the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 ? (sorted[half] as number) : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2
}

/**
 * The median of the ratios of each round. What slows a whole round, another program for example, slows both sides of its ratio.
 *
 * @param values - One per round.
 * @param references - One per round, of the same rounds.
 */
export function medianRatio(values: readonly number[], references: readonly number[]): number {
  return median(values.map((value, round) => value / (references[round] as number)))
}

/** The same values in a random order. */
export function shuffle<T>(values: readonly T[]): T[] {
  const drawn = values.map((value) => [Math.random(), value] as const)
  return drawn.sort(([a], [b]) => a - b).map(([, value]) => value)
}
