/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 ? (sorted[half] as number) : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2
}

/**
 * The median of the ratios of each round. Anything that slows a whole round, such as another program, affects both sides of its ratio.
 *
 * @param values - One per round.
 * @param references - One per round, of the same rounds.
 */
export function medianRatio(values: readonly number[], references: readonly number[]): number {
  return median(values.map((value, round) => value / (references[round] as number)))
}

/**
 * The interval of the median with 95 % certainty: the middle 95 % of the medians of 1,000 resamples.
 *
 * @see Efron, "Bootstrap methods: another look at the jackknife" (1979)
 */
export function medianInterval(values: readonly number[]): readonly [from: number, to: number] {
  const draws = 1_000
  // With a fixed seed, so that the same values give the same interval.
  let state = 1
  const draw = (): number => {
    state = (state * 48_271) % 2_147_483_647
    return values[state % values.length] as number
  }
  const medians = Array.from({ length: draws }, () => median(values.map(draw))).sort((a, b) => a - b)
  return [medians[draws * 0.025] as number, medians[draws * 0.975 - 1] as number]
}

/** The same values in a random order. */
export function shuffle<T>(values: readonly T[]): T[] {
  const drawn = values.map((value) => [Math.random(), value] as const)
  return drawn.sort(([a], [b]) => a - b).map(([, value]) => value)
}
