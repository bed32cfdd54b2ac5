import type { Network } from '../../lib/network.ts'

/** A query for usage. */
export interface MetricsQuery {
  readonly subject: { readonly appId: string } | { readonly keyId: string } | { readonly userId: string }
  /** Milliseconds since 1970, rounded down to a whole step. */
  readonly from: number
  /** Milliseconds since 1970, exclusive, rounded up to a whole step. */
  readonly to: number
  readonly step: 'minute' | 'hour' | 'day'
  /** Counts only calls that have all of these. @default all calls */
  readonly filter?: CallFilter | undefined
}

/** Selects calls. */
export interface CallFilter {
  readonly method?: string | undefined
  /** An `Outcome`. */
  readonly outcome?: string | undefined
  readonly network?: Network | undefined
}

/** Latencies in milliseconds; `null` if no call was forwarded. */
export interface Latency {
  readonly p50: number | null
  readonly p90: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** What the limits charged for calls: `units` is their number, less those that are `free`, plus `weighted` and `notifications`. */
export interface Charged {
  readonly units: number
  /** Calls that were not charged, by outcome, the most frequent first: rejected ones, and those that were sent to no node. */
  readonly free: readonly { readonly outcome: string; readonly total: number }[]
  /** Units beyond one for each call, because of the weights of methods. */
  readonly weighted: number
  /** Units of notifications. */
  readonly notifications: number
}

/**
 * Usage in a period. Each call of a batch counts. Latencies include only forwarded calls, because rejections take no time and would make
 * the nodes look faster.
 */
export interface Metrics {
  /** All calls with a known key. */
  readonly total: number
  /** Calls to which a node responded without an `error`. */
  readonly succeeded: number
  /** Calls whose contract reverted. They are neither successes nor failures. */
  readonly reverted: number
  /** Calls whose result was in the chain store: no node was asked. */
  readonly stored: number
  /** What the limits charged. */
  readonly charged: Charged
  /** From when on usage is stored, in milliseconds since 1970. Earlier usage is removed. */
  readonly storedFrom: number
  /** `(succeeded + reverted) / total`; `null` if there were no calls. */
  readonly successRate: number | null
  readonly latencyMs: Latency
  /** WebSockets that were opened. */
  readonly connections: number
  /** Notifications of subscriptions. They are not calls: the other members do not count them. */
  readonly notifications: number
  /** One point per step, also for steps without calls, oldest first. */
  readonly series: readonly {
    readonly at: number
    readonly total: number
    readonly succeeded: number
    readonly reverted: number
    readonly p50: number | null
    readonly p95: number | null
    readonly connections: number
    readonly notifications: number
  }[]
  /** Most used first. */
  readonly byMethod: readonly {
    readonly method: string
    readonly total: number
    readonly succeeded: number
    readonly reverted: number
    readonly p50: number | null
    readonly p95: number | null
  }[]
  /** Most frequent first. */
  readonly byOutcome: readonly { readonly outcome: string; readonly total: number }[]
  /** Networks with calls, the most requested first. */
  readonly byNetwork: readonly {
    readonly network: Network
    readonly total: number
    readonly succeeded: number
    readonly reverted: number
  }[]
}

/**
 * Reads usage.
 * @throws {RangeError} if the period is empty or has more than 20,000 steps. {StorageError} if the database is unreachable.
 */
export type ReadMetrics = (query: MetricsQuery) => Promise<Metrics>
