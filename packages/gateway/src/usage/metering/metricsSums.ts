import type { Network } from '../../lib/network.ts'
import { bucketCount, percentile } from './latencyBuckets.ts'
import { connectionMethod, notificationMethod } from './meter.ts'
import type { CallFilter, Metrics } from './metrics.ts'
import { unpackCounts } from './usageCounts.ts'

/*
 * The sums of a query of usage. Rows of counts are added one by one. This file does no I/O.
 */

/** Outcomes of forwarded calls. Only these have a latency. */
const forwarded: ReadonlySet<string> = new Set(['succeeded', 'reverted', 'nodeError', 'upstreamFailed'])

interface Totals {
  total: number
  succeeded: number
  reverted: number
}

interface Sum extends Totals {
  readonly buckets: Uint32Array
}

/** The sums of a period, by point of time and by kind of call. */
export interface MetricsSums {
  readonly from: number
  readonly stepMs: number
  readonly steps: number
  readonly filter: CallFilter | undefined
  /** One number for each step. */
  readonly points: Readonly<Record<'total' | 'succeeded' | 'reverted' | 'connections' | 'notifications', Float64Array>>
  /** The latencies of each step. */
  readonly buckets: Uint32Array
  readonly methods: Map<string, Sum>
  readonly outcomes: Map<string, number>
  readonly networks: Map<Network, Totals>
}

const createTotals = (): Totals => ({ total: 0, succeeded: 0, reverted: 0 })
const createSum = (): Sum => ({ ...createTotals(), buckets: new Uint32Array(bucketCount) })

/** Creates the sums of a period without calls. @param period.steps - How many points it has. */
export const createMetricsSums = (period: Pick<MetricsSums, 'from' | 'stepMs' | 'steps' | 'filter'>): MetricsSums => {
  const create = (): Float64Array => new Float64Array(period.steps)
  return {
    ...period,
    points: {
      total: create(),
      succeeded: create(),
      reverted: create(),
      connections: create(),
      notifications: create(),
    },
    buckets: new Uint32Array(period.steps * bucketCount),
    methods: new Map(),
    outcomes: new Map(),
    networks: new Map(),
  }
}

/** Checks that calls have everything that a filter selects. */
const matches = (filter: CallFilter = {}, { method, network, outcome }: Required<CallFilter>): boolean =>
  (filter.method === undefined || filter.method === method) &&
  (filter.network === undefined || filter.network === network) &&
  (filter.outcome === undefined || filter.outcome === outcome)

const addAt = (numbers: Float64Array | Uint32Array, index: number, count: number): void => {
  numbers[index] = (numbers[index] ?? 0) + count
}

const addTotals = (sum: Totals, { total, succeeded, reverted }: Totals): void => {
  sum.total += total
  sum.succeeded += succeeded
  sum.reverted += reverted
}

const getOrCreate = <Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value => {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = create()))
  return value
}

/** Adds a row of counts. @param at - Its time, in milliseconds since 1970. */
export const addCounts = (sums: MetricsSums, at: number, counts: string): void => {
  const { points, methods, outcomes, networks } = sums
  const point = Math.max(0, Math.floor((at - sums.from) / sums.stepMs))
  // The roll-up reports rows that cannot be parsed.
  for (const cell of unpackCounts(counts) ?? []) {
    const [method, network, outcome, total] = cell
    if (!matches(sums.filter, { method, network, outcome })) continue
    const isConnection = method === connectionMethod
    // A call of such a method is rejected.
    if (outcome === 'succeeded' && (isConnection || method === notificationMethod)) {
      addAt(isConnection ? points.connections : points.notifications, point, total)
      continue
    }
    const succeeded = outcome === 'succeeded' ? total : 0
    const reverted = outcome === 'reverted' ? total : 0
    const sum = getOrCreate(methods, method, createSum)
    addTotals(sum, { total, succeeded, reverted })
    addTotals(getOrCreate(networks, network, createTotals), { total, succeeded, reverted })
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + total)
    addAt(points.total, point, total)
    addAt(points.succeeded, point, succeeded)
    addAt(points.reverted, point, reverted)
    if (!forwarded.has(outcome)) continue
    for (let index = 4; index < cell.length; index += 2) {
      const bucket = cell[index] as number
      const count = cell[index + 1] as number
      addAt(sum.buckets, bucket, count)
      addAt(sums.buckets, point * bucketCount + bucket, count)
    }
  }
}

const toLatency = (buckets: Uint32Array): { p50: number | null; p95: number | null } => ({
  p50: percentile(buckets, 0.5),
  p95: percentile(buckets, 0.95),
})

const addUp = (counts: Float64Array): number => counts.reduce((sum, count) => sum + count, 0)

const byTotal = (one: { readonly total: number }, other: { readonly total: number }): number => other.total - one.total

/** Converts sums to the metrics of the period. */
export const toMetrics = ({
  from,
  stepMs,
  steps,
  points,
  buckets,
  methods,
  outcomes,
  networks,
}: MetricsSums): Metrics => {
  const all = createSum()
  for (const sum of methods.values()) {
    addTotals(all, sum)
    for (const [bucket, count] of sum.buckets.entries()) addAt(all.buckets, bucket, count)
  }
  const { total, succeeded, reverted } = all
  return {
    total,
    succeeded,
    reverted,
    successRate: total === 0 ? null : (succeeded + reverted) / total,
    latencyMs: { ...toLatency(all.buckets), p90: percentile(all.buckets, 0.9), p99: percentile(all.buckets, 0.99) },
    connections: addUp(points.connections),
    notifications: addUp(points.notifications),
    series: Array.from({ length: steps }, (_, point) => ({
      at: from + point * stepMs,
      total: points.total[point] ?? 0,
      succeeded: points.succeeded[point] ?? 0,
      reverted: points.reverted[point] ?? 0,
      p50: percentile(buckets, 0.5, point * bucketCount),
      p95: percentile(buckets, 0.95, point * bucketCount),
      connections: points.connections[point] ?? 0,
      notifications: points.notifications[point] ?? 0,
    })),
    byMethod: [...methods]
      .map(([method, { buckets: latencies, ...sums }]) => ({ method, ...sums, ...toLatency(latencies) }))
      .sort(byTotal),
    byOutcome: [...outcomes].map(([outcome, count]) => ({ outcome, total: count })).sort(byTotal),
    byNetwork: [...networks].map(([network, sums]) => ({ network, ...sums })).sort(byTotal),
  }
}
