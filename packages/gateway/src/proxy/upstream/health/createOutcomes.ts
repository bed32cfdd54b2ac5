import { createDurations } from '../../../lib/createDurations.ts'
import type { Durations } from '../../../lib/createDurations.ts'
import type { CallOutcome } from './callOutcome.ts'

/** How the calls that an upstream was sent ended. */
export interface Outcomes {
  readonly add: (outcome: Pick<CallOutcome, 'kind' | 'latencyMs' | 'calls'>) => void
  /** How many calls ended in each way. */
  readonly counts: () => ReadonlyMap<CallOutcome['kind'], number>
  readonly durations: () => Durations
}

/** Creates the counters of an upstream's calls. They are read at each scrape of the metrics, and adding to them allocates nothing. */
export const createOutcomes = (): Outcomes => {
  const counts = new Map<CallOutcome['kind'], number>()
  const durations = createDurations()
  return {
    add: ({ kind, latencyMs, calls }) => {
      counts.set(kind, (counts.get(kind) ?? 0) + calls)
      durations.add(latencyMs / 1_000, calls)
    },
    counts: () => counts,
    durations: durations.read,
  }
}
