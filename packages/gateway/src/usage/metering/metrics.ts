import type { Network } from '../../lib/network.ts'

/** What is asked about usage. */
export interface MetricsQuery {
  readonly subject: { readonly appId: string } | { readonly keyId: string } | { readonly userId: string }
  /** Milliseconds since 1970; the step that it lies in counts whole. */
  readonly from: number
  /** Milliseconds since 1970, not included; the step that it lies in counts whole. */
  readonly to: number
  readonly step: 'minute' | 'hour' | 'day'
}

/** Latencies in milliseconds; `null` where nothing was forwarded. */
export interface Latency {
  readonly p50: number | null
  readonly p90: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/**
 * Usage over a span of time. A batch counts item by item. Latencies are of what was forwarded, so that a rejection, which takes no time, makes no
 * node look fast.
 */
export interface Metrics {
  /** Everything that came with a known key. */
  readonly total: number
  /** What a node answered without an `error`. */
  readonly succeeded: number
  /** `succeeded / total`; `null` where nothing came. */
  readonly successRate: number | null
  readonly latencyMs: Latency
  /** One point for each step, also where nothing came, oldest first. */
  readonly series: readonly {
    readonly at: number
    readonly total: number
    readonly succeeded: number
    readonly p50: number | null
    readonly p95: number | null
  }[]
  /** The most used first. */
  readonly byMethod: readonly {
    readonly method: string
    readonly total: number
    readonly succeeded: number
    readonly p50: number | null
    readonly p95: number | null
  }[]
  /** The most frequent first. */
  readonly byOutcome: readonly { readonly outcome: string; readonly total: number }[]
  readonly byNetwork: readonly { readonly network: Network; readonly total: number; readonly succeeded: number }[]
}

/**
 * Reads usage.
 * @throws {RangeError} where the span is no span, or has more than 20,000 steps. {StorageError} where the database cannot be asked.
 */
export type ReadMetrics = (query: MetricsQuery) => Promise<Metrics>
