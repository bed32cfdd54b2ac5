import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { searchText, timeText } from './texts.ts'

/** Time ranges: the last 60 minutes, 24 hours, 7 days, 30 days and 90 days. */
const metricsRanges = ['hour', 'day', 'week', 'month', 'quarter'] as const

/** A time range of metrics. */
export type MetricsRange = (typeof metricsRanges)[number]

/** Request counts, outcomes and latencies. Each request of a batch counts. */
export interface MetricsView {
  /** `custom`: from `from` to `to` of the query, rounded to whole steps. */
  readonly range: MetricsRange | 'custom'
  readonly from: string
  readonly to: string
  /** The length of one item of `series`. */
  readonly step: 'minute' | 'hour' | 'day'
  readonly total: number
  /** Requests with a successful response. */
  readonly succeeded: number
  /** Requests whose contract reverted. They are neither successes nor failures. */
  readonly reverted: number
  /** `(succeeded + reverted) / total`, 0 to 1; `null` if there were no requests. */
  readonly successRate: number | null
  readonly latencyMs: {
    readonly p50: number | null
    readonly p90: number | null
    readonly p95: number | null
    readonly p99: number | null
  }
  /** WebSockets that were opened. */
  readonly connections: number
  /** Notifications of subscriptions. They are not requests: the other members do not count them. */
  readonly notifications: number
  /** One item per step from `from` to `to`, including steps without requests. */
  readonly series: readonly {
    readonly at: string
    readonly total: number
    readonly succeeded: number
    readonly reverted: number
    readonly p50: number | null
    readonly p95: number | null
    readonly connections: number
    readonly notifications: number
  }[]
  /** Most requested first. */
  readonly byMethod: readonly {
    readonly method: string
    readonly total: number
    readonly succeeded: number
    readonly reverted: number
    readonly p50: number | null
    readonly p95: number | null
  }[]
  /** `succeeded`, `reverted`, `nodeError`, `upstreamFailed`, `disconnected`, or a rejection reason. */
  readonly byOutcome: readonly { readonly outcome: string; readonly total: number }[]
  readonly byNetwork: readonly {
    readonly network: Network
    readonly total: number
    readonly succeeded: number
    readonly reverted: number
  }[]
}

/** Selects metrics. */
export interface MetricsQuery {
  /** @default 'day' */
  readonly range?: MetricsRange
  /**
   * The start of a range of its own, in place of `range`; needs `to`. Its steps are minutes up to 6 hours, hours up to 8 days, otherwise days, and
   * coarser ones if it starts before the service still has the finer ones.
   */
  readonly from?: string
  /** The end of the range, at most 2 years after `from`. */
  readonly to?: string
  /** Counts only requests with this method, as in `byMethod`. */
  readonly method?: string
  /** Counts only requests with this outcome, as in `byOutcome`. */
  readonly outcome?: string
  /** Counts only requests to this network. */
  readonly network?: Network
}

/** Selects metrics for a CSV table. */
export interface MetricsCsvQuery extends MetricsQuery {
  /** The kind of rows. @default 'series' */
  readonly of?: 'series' | 'methods' | 'outcomes' | 'networks'
}

const count = z.int().min(0)
const ms = z.number().min(0).nullable()
const range = z.enum(metricsRanges)

/** The schema of `MetricsView`. */
export const metricsView: z.ZodType<MetricsView> = z
  .strictObject({
    range: z.enum([...metricsRanges, 'custom']),
    from: timeText,
    to: timeText,
    step: z.enum(['minute', 'hour', 'day']),
    total: count,
    succeeded: count,
    reverted: count,
    successRate: z.number().min(0).max(1).nullable(),
    latencyMs: z.strictObject({ p50: ms, p90: ms, p95: ms, p99: ms }),
    connections: count,
    notifications: count,
    series: z.array(
      z.strictObject({
        at: timeText,
        total: count,
        succeeded: count,
        reverted: count,
        p50: ms,
        p95: ms,
        connections: count,
        notifications: count,
      }),
    ),
    byMethod: z.array(
      z.strictObject({ method: z.string(), total: count, succeeded: count, reverted: count, p50: ms, p95: ms }),
    ),
    byOutcome: z.array(z.strictObject({ outcome: z.string(), total: count })),
    byNetwork: z.array(z.strictObject({ network: z.string(), total: count, succeeded: count, reverted: count })),
  })
  .meta({ id: 'Metrics' })

const queryMembers = {
  range: range.exactOptional(),
  from: timeText.exactOptional(),
  to: timeText.exactOptional(),
  method: searchText.exactOptional(),
  outcome: searchText.exactOptional(),
  network: searchText.exactOptional(),
}

/** The schema of `MetricsQuery`. */
export const metricsQuery: z.ZodType<MetricsQuery, unknown> = z.strictObject(queryMembers)

/** The schema of `MetricsCsvQuery`. */
export const metricsCsvQuery: z.ZodType<MetricsCsvQuery, unknown> = z.strictObject({
  ...queryMembers,
  of: z.enum(['series', 'methods', 'outcomes', 'networks']).exactOptional(),
})
