import { createDurations } from '../../lib/createDurations.ts'
import type { Durations } from '../../lib/createDurations.ts'
import type { LimitGrant, LimitRequest, UsageLimits } from './usageLimits.ts'

/** Counts of the decisions of limits. */
export interface LimitCounts {
  /** Calls by decision: granted, rejected by the rate or by a quota's day or month, or neither because the quota could not be read. */
  readonly decisions: Readonly<Record<LimitDecision, number>>
  /** How long requests waited for a decision that this process could not make alone. */
  readonly waits: Durations
  /** How many requests wait now. */
  readonly waiting: number
}

/** A decision on one call. */
export type LimitDecision = 'granted' | 'rate' | 'day' | 'month' | 'unavailable'

/** The bounds of waits, in seconds. A request gives up after 2. */
export const limitWaitBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
]

/**
 * Counts the decisions of limits, in plain numbers that are read at each scrape of the metrics.
 * @returns The limits to use instead, and a function that reads the counts.
 */
export const countDecisions = (limits: UsageLimits): readonly [UsageLimits, () => LimitCounts] => {
  const decisions: Record<LimitDecision, number> = { granted: 0, rate: 0, day: 0, month: 0, unavailable: 0 }
  const waits = createDurations(limitWaitBounds)
  let waiting = 0

  const count = ({ passed }: LimitRequest, { granted, rate, quota }: LimitGrant): void => {
    const allowed = rate === undefined ? passed : Math.min(passed, rate.granted)
    decisions.granted += granted
    decisions.rate += passed - allowed
    if (granted < allowed) decisions[quota?.rejectedBy ?? 'unavailable'] += allowed - granted
  }
  const countLater = (request: LimitRequest, decided: Promise<LimitGrant>): void => {
    const startedAt = performance.now()
    waiting += 1
    const end = (): void => {
      waiting -= 1
      waits.add((performance.now() - startedAt) / 1_000)
    }
    decided.then(
      (grant) => {
        end()
        count(request, grant)
      },
      () => {
        end()
        decisions.unavailable += request.passed
      },
    )
  }

  const counted: UsageLimits = {
    ...limits,
    take: (request) => {
      const decided = limits.take(request)
      if (decided instanceof Promise) countLater(request, decided)
      else count(request, decided)
      return decided
    },
    peek: (id, rate) => {
      const next = limits.peek(id, rate)
      // The request is then rejected without `take`.
      if (next.granted === 0) decisions.rate += 1
      return next
    },
  }
  return [counted, () => ({ decisions, waits: waits.read(), waiting })]
}
