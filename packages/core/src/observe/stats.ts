import type { FailureKind } from '../failure/failureKind.ts'
import { check } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import type { CallEvent } from '../transport/callEvent.ts'
import { createLatencyHistogram } from './latencyHistogram.ts'
import type { LatencyHistogram, LatencyStats } from './latencyHistogram.ts'

/** What a layer adds to the stats: plain data that can be written as JSON, made anew each time. */
export type StatsSource = () => Readonly<Record<string, unknown>>

/** What was sent, overall or to one endpoint. */
export interface TrafficStats {
  /** HTTP requests: a batch is one, and each attempt counts. */
  readonly requests: number
  /** Requests that held more than one call. */
  readonly batches: number
  /** Calls in those. */
  readonly batchedCalls: number
  /** Calls that had to wait in a queue of ours, for the budget or for a free place; a call can wait more than once. */
  readonly queued: number
  /** How long they waited, in milliseconds, together. */
  readonly queuedMs: number
  /** Calls that were asked of another endpoint because this one failed. */
  readonly rerouted: number
  /** Second requests made because a first was slow; of an endpoint, those that it got. */
  readonly hedged: number
}

/** One endpoint. */
export interface EndpointStats extends TrafficStats {
  /** Attempts that failed, each call of a batch by itself. */
  readonly failed: number
  readonly failedByKind: Readonly<Partial<Record<FailureKind, number>>>
  /** How long attempts took, those that failed included. */
  readonly latency: LatencyStats
}

/** What a transport has done since it was made. Plain data, and JSON-safe. */
export interface TransportStats extends TrafficStats {
  /** Since when it counts, in milliseconds since 1970. */
  readonly since: number
  /** Calls made. */
  readonly calls: number
  /** Calls under way now. */
  readonly inFlight: number
  readonly answered: number
  /** Calls that failed in the end, aborted ones included. */
  readonly failed: number
  readonly failedByKind: Readonly<Partial<Record<FailureKind, number>>>
  readonly retries: number
  /** Calls that shared the request of another. */
  readonly joined: number
  /** Calls that were answered from the cache. */
  readonly cached: number
  /** Hooks that threw or rejected, and spans that could not be made. */
  readonly hookErrors: number
  /** How long calls took, waits included, those that failed included. */
  readonly latency: LatencyStats
  /** By redactedUrl. */
  readonly endpoints: Readonly<Record<string, EndpointStats>>
  /** What layers say of themselves, by their name. */
  readonly layers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** Counts what a transport does. */
export interface Stats {
  /** Told by `observe` of each call, of what happens to it, and of its end: with a kind where it failed. */
  readonly started: () => void
  readonly note: (event: CallEvent) => void
  readonly settled: (kind: FailureKind | undefined, durationMs: number) => void
  readonly hookFailed: () => void
  readonly snapshot: () => TransportStats
}

/** Counters are kept for so many redacted URLs; a redacted URL changes when its key is rotated. Further ones share one. */
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

const snapshotOf = (counters: Counters): EndpointStats => ({
  ...counters,
  // Each call of a batch adds its share.
  requests: Math.round(counters.requests),
  batches: Math.round(counters.batches),
  failedByKind: { ...counters.failedByKind },
  latency: counters.latency.snapshot(),
})

const fail = (counters: Counters, kind: FailureKind): void => {
  counters.failed++
  counters.failedByKind[kind] = (counters.failedByKind[kind] ?? 0) + 1
}

/**
 * Begins to count: what `observe` is told, overall and by endpoint. Requests are told of by `gate` and `batch`. Memory is bounded, whatever the traffic. Counts only grow, because
 * several may read them: take two snapshots and subtract.
 *
 * @param sources - What layers add, by their name: each stands under that name in `layers`.
 * @throws {KeyrailError} kind `invalidRequest` where a source is no function.
 * @example
 * const counters = createStats()
 * counters.started()
 * counters.snapshot().calls // 1
 */
export function createStats(sources: Readonly<Record<string, StatsSource>> = {}): Stats {
  for (const [name, source] of Object.entries(sources))
    check(
      typeof source === 'function',
      `source '${name}' of createStats must be a function, not ${describeType(source)}`,
    )
  const since = Date.now()
  const all = createCounters()
  const endpoints = new Map<string, Counters>()
  let started = 0
  let answered = 0
  let retries = 0
  let joined = 0
  let cached = 0
  let hookErrors = 0

  // Mostly it is the same endpoint as before.
  let lastLabel: string | undefined
  let last = all
  const countersOf = (redactedUrl: string): Counters => {
    if (redactedUrl === lastLabel) return last
    const name = endpoints.has(redactedUrl) || endpoints.size < MAX_ENDPOINTS ? redactedUrl : OTHERS
    last = endpoints.get(name) ?? createCounters()
    endpoints.set(name, last)
    lastLabel = redactedUrl
    return last
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

  const note = (event: CallEvent): void => {
    switch (event.type) {
      case 'attempt':
        attempted(all, event.batchSize)
        attempted(countersOf(event.redactedUrl), event.batchSize)
        break
      case 'attempted': {
        const counters = countersOf(event.redactedUrl)
        counters.latency.add(event.durationMs)
        if (event.kind) fail(counters, event.kind)
        break
      }
      case 'queued':
        queued(all, event.waitMs)
        queued(countersOf(event.redactedUrl), event.waitMs)
        break
      case 'rerouted':
      case 'hedged':
        all[event.type]++
        countersOf(event.redactedUrl)[event.type]++
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
        // Counted by `settled`.
        break
    }
  }

  return {
    note,
    started: () => {
      started++
    },
    settled: (kind, durationMs) => {
      all.latency.add(durationMs)
      if (kind) fail(all, kind)
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
      ...snapshotOf(all),
      retries,
      joined,
      cached,
      hookErrors,
      endpoints: Object.fromEntries(
        [...endpoints].map(([redactedUrl, counters]) => [redactedUrl, snapshotOf(counters)]),
      ),
      layers: Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, source()])),
    }),
  }
}
