import type { FailureKind } from '../failure/failureKind.ts'
import { check } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import type { CallEvent } from '../transport/call/callEvent.ts'
import { createLatencyHistogram } from './latencyHistogram.ts'
import type { LatencyHistogram, LatencyStats } from './latencyHistogram.ts'

/** Reports the counts of a layer of your own for `layers` in the stats. Called for each snapshot; must return plain data that can be written as JSON. */
export type StatsSource = () => Readonly<Record<string, unknown>>

/** Counts of the traffic of a transport, or of one of its endpoints. */
export interface TrafficStats {
  /** HTTP requests. A batch is one request, and each attempt counts. */
  readonly requests: number
  /** HTTP requests with more than one call. */
  readonly batches: number
  /** Calls that were sent in batches. */
  readonly batchedCalls: number
  /** Waits in a queue of the transport, for the budget or for a free slot. A call can wait more than once. */
  readonly queued: number
  /** Total time of these waits, in milliseconds. */
  readonly queuedMs: number
  /** Calls that were sent to another endpoint because this one failed. */
  readonly rerouted: number
  /** Second requests that were sent because the first was slow, counted at the endpoint that received the second. */
  readonly hedged: number
}

/** Counts of one endpoint. */
export interface EndpointStats extends TrafficStats {
  /** Failed attempts. Each call of a batch counts separately. */
  readonly failed: number
  /** Failed attempts by kind of failure; a kind that never occurred is missing. */
  readonly failedByKind: Readonly<Partial<Record<FailureKind, number>>>
  /** Durations of attempts, failed ones included, in milliseconds. */
  readonly latency: LatencyStats
}

/** Counts of a transport since it was created. Plain data that can be written as JSON. Counts only grow, except `inFlight`. Returned by `transport.stats()`. */
export interface TransportStats extends TrafficStats {
  /** When counting started, in milliseconds since 1970. */
  readonly since: number
  /** Calls that were started. */
  readonly calls: number
  /** Calls that have not completed yet. */
  readonly inFlight: number
  /** Calls that got their result, from a node or from the cache. */
  readonly answered: number
  /** Calls that failed after all their retries, aborted ones included. */
  readonly failed: number
  /** Failed calls by kind of failure; a kind that never occurred is missing. */
  readonly failedByKind: Readonly<Partial<Record<FailureKind, number>>>
  /** Retried attempts. */
  readonly retries: number
  /** Calls that shared the request of another call. */
  readonly joined: number
  /** Calls whose result came from the cache. */
  readonly cached: number
  /** Errors of hooks that threw or rejected, and of tracers and spans that threw. */
  readonly hookErrors: number
  /** Durations of calls, including waits and failed calls, in milliseconds. */
  readonly latency: LatencyStats
  /** Counts of each endpoint, by its redacted URL. At most 64; further ones share `(others)`. */
  readonly endpoints: Readonly<Record<string, EndpointStats>>
  /** The reports of the sources passed to `stats()`, by their name. */
  readonly layers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The counters of a transport. */
export interface Stats {
  /** Counts the start of a call. */
  readonly started: () => void
  /** Counts an event of a call. */
  readonly record: (event: CallEvent) => void
  /** Counts the end of a call: with the kind of its failure, or undefined if it succeeded. */
  readonly completed: (kind: FailureKind | undefined, durationMs: number) => void
  /** Counts an error in a hook, a tracer or a span. */
  readonly hookFailed: () => void
  /** Copies all counts. */
  readonly snapshot: () => TransportStats
}

/** The number of endpoints with counters of their own; further ones share `OTHERS`. Key rotation changes the redacted URL, so the number must be bounded. */
const MAX_ENDPOINTS = 64
const OTHERS = '(others)'

interface Counters extends Record<keyof TrafficStats, number> {
  failed: number
  readonly failedByKind: Partial<Record<FailureKind, number>>
  readonly latency: LatencyHistogram
}

const createCounters = (): Counters => ({
  requests: 0,
  batches: 0,
  batchedCalls: 0,
  queued: 0,
  queuedMs: 0,
  rerouted: 0,
  hedged: 0,
  failed: 0,
  failedByKind: {},
  latency: createLatencyHistogram(),
})

const toSnapshot = (counters: Counters): EndpointStats => ({
  ...counters,
  // Each call of a batch of n adds 1 / n, so the sum is whole but for rounding errors.
  requests: Math.round(counters.requests),
  batches: Math.round(counters.batches),
  failedByKind: { ...counters.failedByKind },
  latency: counters.latency.snapshot(),
})

const countFailure = (counters: Counters, kind: FailureKind): void => {
  counters.failed++
  counters.failedByKind[kind] = (counters.failedByKind[kind] ?? 0) + 1
}

/**
 * Creates the counters of a transport, overall and by endpoint. Memory is bounded. Counts only grow, because several readers may use them:
 * to measure an interval, take two snapshots and subtract.
 *
 * @param sources - Reports of layers, by name: each appears under that name in `layers`. @default {}
 * @throws {KeyrailError} kind `invalidRequest` if a source is not a function.
 * @example
 * const counters = createStats()
 * counters.started()
 * counters.snapshot().calls // 1
 */
export function createStats(sources: Readonly<Record<string, StatsSource>> = {}): Stats {
  for (const [name, source] of Object.entries(sources))
    check(typeof source === 'function', `stats: the source "${name}" must be a function, not ${describeType(source)}`)
  const since = Date.now()
  const all = createCounters()
  const endpoints = new Map<string, Counters>()
  let started = 0
  let answered = 0
  let retries = 0
  let joined = 0
  let cached = 0
  let hookErrors = 0

  // Saves a look-up: most events are of the same endpoint as the one before.
  let lastUrl: string | undefined
  let lastCounters = all
  const getCounters = (redactedUrl: string): Counters => {
    if (redactedUrl === lastUrl) return lastCounters
    const name = endpoints.has(redactedUrl) || endpoints.size < MAX_ENDPOINTS ? redactedUrl : OTHERS
    lastCounters = endpoints.get(name) ?? createCounters()
    endpoints.set(name, lastCounters)
    lastUrl = redactedUrl
    return lastCounters
  }

  const attempted = (counters: Counters, batchSize: number): void => {
    counters.requests += 1 / batchSize
    if (batchSize === 1) return
    counters.batches += 1 / batchSize
    counters.batchedCalls++
  }

  const queued = (counters: Counters, waitMs: number): void => {
    counters.queued++
    counters.queuedMs += waitMs
  }

  const record = (event: CallEvent): void => {
    switch (event.type) {
      case 'attempt':
        attempted(all, event.batchSize)
        attempted(getCounters(event.redactedUrl), event.batchSize)
        break
      case 'attempted': {
        const counters = getCounters(event.redactedUrl)
        counters.latency.add(event.durationMs)
        if (event.kind) countFailure(counters, event.kind)
        break
      }
      case 'queued':
        queued(all, event.waitMs)
        queued(getCounters(event.redactedUrl), event.waitMs)
        break
      case 'rerouted':
      case 'hedged':
        all[event.type]++
        getCounters(event.redactedUrl)[event.type]++
        break
      case 'retry':
        retries++
        break
      case 'joined':
        joined++
        break
      case 'cached':
        cached++
        break
      case 'ended':
        // Counted by `completed`.
        break
    }
  }

  return {
    record,
    started: () => {
      started++
    },
    completed: (kind, durationMs) => {
      all.latency.add(durationMs)
      if (kind) countFailure(all, kind)
      else answered++
    },
    hookFailed: () => {
      hookErrors++
    },
    snapshot: () => ({
      since,
      calls: started,
      inFlight: started - answered - all.failed,
      answered,
      ...toSnapshot(all),
      retries,
      joined,
      cached,
      hookErrors,
      endpoints: Object.fromEntries(
        [...endpoints].map(([redactedUrl, counters]) => [redactedUrl, toSnapshot(counters)]),
      ),
      layers: Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, source()])),
    }),
  }
}
