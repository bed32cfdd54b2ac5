import type { CallOutcome } from './groupMember.ts'

/** How the attempts at an upstream ended. */
export interface Outcomes {
  readonly add: (kind: CallOutcome['kind'], latencyMs: number) => void
  /** How many attempts ended in each way. */
  readonly counts: () => ReadonlyMap<CallOutcome['kind'], number>
  readonly durations: () => Durations
}

/** How long attempts took. */
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

/** Creates the counters of an upstream's attempts. They are read at each scrape of the metrics, and adding to them allocates nothing. */
export const createOutcomes = (): Outcomes => {
  const counts = new Map<CallOutcome['kind'], number>()
  const buckets = new Float64Array(durationBounds.length + 1)
  let sum = 0
  return {
    add: (kind, latencyMs) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      const seconds = latencyMs / 1_000
      let bucket = 0
      while (bucket < durationBounds.length && seconds > (durationBounds[bucket] ?? 0)) bucket += 1
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
      sum += seconds
    },
    counts: () => counts,
    durations: () => ({ counts: [...buckets], sum }),
  }
}
