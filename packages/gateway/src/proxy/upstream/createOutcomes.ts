import type { CallOutcome } from './callOutcome.ts'

/** How the calls that an upstream was sent ended. */
export interface Outcomes {
  readonly add: (outcome: Pick<CallOutcome, 'kind' | 'latencyMs' | 'calls'>) => void
  /** How many calls ended in each way. */
  readonly counts: () => ReadonlyMap<CallOutcome['kind'], number>
  readonly durations: () => Durations
}

/** How long calls took. */
export interface Durations {
  /** How many took at most as long as `durationBounds` at the same place, and in the last place how many took longer. */
  readonly counts: readonly number[]
  /** Of all, in seconds. */
  readonly sum: number
}

/** In seconds. */
export const durationBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]

/** Creates the counters of an upstream's calls. They are read at each scrape of the metrics, and adding to them allocates nothing. */
export const createOutcomes = (): Outcomes => {
  const counts = new Map<CallOutcome['kind'], number>()
  const buckets = new Float64Array(durationBounds.length + 1)
  let sum = 0
  return {
    add: ({ kind, latencyMs, calls }) => {
      counts.set(kind, (counts.get(kind) ?? 0) + calls)
      const seconds = latencyMs / 1_000
      let bucket = 0
      while (bucket < durationBounds.length && seconds > (durationBounds[bucket] ?? 0)) bucket += 1
      buckets[bucket] = (buckets[bucket] ?? 0) + calls
      sum += seconds * calls
    },
    counts: () => counts,
    durations: () => ({ counts: [...buckets], sum }),
  }
}
