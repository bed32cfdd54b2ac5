/** Durations counted by bucket. */
export interface Durations {
  /** How many took at most as long as the bound at the same place, and in the last place how many took longer. */
  readonly counts: readonly number[]
  /** Of all, in seconds. */
  readonly sum: number
}

/** Counts durations. */
export interface DurationCounter {
  /** @param count - The number of durations. @default 1 */
  readonly add: (seconds: number, count?: number) => void
  readonly read: () => Durations
}

/** The bounds of requests and calls, in seconds. */
export const durationBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]

/**
 * Creates a counter of durations, which is read at each scrape of the metrics. Adding to it allocates nothing.
 * @param bounds - The upper bounds of its buckets in seconds, in ascending order. @default durationBounds
 */
export const createDurations = (bounds = durationBounds): DurationCounter => {
  const buckets = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    add: (seconds, count = 1) => {
      let bucket = 0
      while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket += 1
      buckets[bucket] = (buckets[bucket] ?? 0) + count
      sum += seconds * count
    },
    read: () => ({ counts: [...buckets], sum }),
  }
}
