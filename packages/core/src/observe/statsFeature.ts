import { createObserver } from './observe.ts'
import type { ObserverFeature } from './observe.ts'
import { createStats } from './stats.ts'
import type { Stats, StatsSource } from './stats.ts'

/** The value of the `stats` option of `createTransport`. Created by {@link stats}. */
export interface StatsFeature extends ObserverFeature {
  /** The counters. Read them with `transport.stats()`. */
  readonly stats: Stats
}

/**
 * Counts calls, requests and failures, and measures latencies, overall and by endpoint. Adds `transport.stats()`. Memory is bounded.
 * Counts only grow, because several readers may use them: to measure an interval, take two snapshots and subtract.
 *
 * @param sources - Functions that report the counts of your own layers, by name: each report appears under that name in `layers`. @default {}
 * @returns The value of the `stats` option.
 * @throws {KeyrailError} kind `invalidRequest` if a source is not a function.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', stats: stats() })
 * await transport.request({ method: 'eth_chainId' })
 * transport.stats().requests // 1
 */
export function stats(sources?: Readonly<Record<string, StatsSource>>): StatsFeature {
  return Object.freeze({ stats: createStats(sources), watch: () => undefined, createObserver })
}
