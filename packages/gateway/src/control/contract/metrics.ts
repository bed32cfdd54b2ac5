import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { networkName } from './networks.ts'
import { timeText } from './texts.ts'

/** How far back: the last 60 minutes, 24 hours, 7 days, 30 days, 90 days. */
export const metricsRanges = ['hour', 'day', 'week', 'month', 'quarter'] as const

/** How far back. */
export type MetricsRange = (typeof metricsRanges)[number]

/** How much was asked, and how it went. Batches count each item. */
export interface MetricsView {
  readonly range: MetricsRange
  readonly from: string
  readonly to: string
  /** What one item of `series` covers. */
  readonly step: 'minute' | 'hour' | 'day'
  readonly total: number
  /** Answered without an error. */
  readonly succeeded: number
  /** 0 to 1; `null` where nothing was asked. */
  readonly successRate: number | null
  readonly latencyMs: {
    readonly p50: number | null
    readonly p90: number | null
    readonly p95: number | null
    readonly p99: number | null
  }
  /** One for each step from `from` to `to`, also where nothing was asked. */
  readonly series: readonly {
    readonly at: string
    readonly total: number
    readonly succeeded: number
    readonly p50: number | null
    readonly p95: number | null
  }[]
  /** The most asked first. */
  readonly byMethod: readonly {
    readonly method: string
    readonly total: number
    readonly succeeded: number
    readonly p50: number | null
    readonly p95: number | null
  }[]
  /** `answered`, `nodeError`, `upstreamFailed`, `disconnected`, or the reason of a rejection. */
  readonly byOutcome: readonly { readonly outcome: string; readonly total: number }[]
  readonly byNetwork: readonly { readonly network: Network; readonly total: number; readonly succeeded: number }[]
}

/** Which metrics. */
export interface MetricsQuery {
  /** @default 'day' */
  readonly range?: MetricsRange
}

/** Which metrics, as a table. */
export interface MetricsCsvQuery extends MetricsQuery {
  /** What the table's rows are. @default 'series' */
  readonly of?: 'series' | 'methods' | 'outcomes' | 'networks'
}

const count = z.int().min(0)
const ms = z.number().min(0).nullable()
const range = z.enum(metricsRanges)

/** @see MetricsView */
export const metricsView: z.ZodType<MetricsView> = z
  .strictObject({
    range,
    from: timeText,
    to: timeText,
    step: z.enum(['minute', 'hour', 'day']),
    total: count,
    succeeded: count,
    successRate: z.number().min(0).max(1).nullable(),
    latencyMs: z.strictObject({ p50: ms, p90: ms, p95: ms, p99: ms }),
    series: z.array(z.strictObject({ at: timeText, total: count, succeeded: count, p50: ms, p95: ms })),
    byMethod: z.array(z.strictObject({ method: z.string(), total: count, succeeded: count, p50: ms, p95: ms })),
    byOutcome: z.array(z.strictObject({ outcome: z.string(), total: count })),
    byNetwork: z.array(z.strictObject({ network: networkName, total: count, succeeded: count })),
  })
  .meta({ id: 'Metrics' })

/** @see MetricsQuery */
export const metricsQuery: z.ZodType<MetricsQuery, unknown> = z.strictObject({ range: range.exactOptional() })

/** @see MetricsCsvQuery */
export const metricsCsvQuery: z.ZodType<MetricsCsvQuery, unknown> = z.strictObject({
  range: range.exactOptional(),
  of: z.enum(['series', 'methods', 'outcomes', 'networks']).exactOptional(),
})
