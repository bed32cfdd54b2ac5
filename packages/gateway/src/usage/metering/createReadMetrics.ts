import { setImmediate as nextRound } from 'node:timers/promises'
import type { Network } from '../../lib/network.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { Db } from '../../storage/tables.ts'
import { bucketCount, percentile } from './latencyBuckets.ts'
import { toOldKeyId } from '../../storage/toOldKeyId.ts'
import { connectionMethod, forwardedOutcomes, notificationMethod } from './meter.ts'
import type { CallFilter, Charged, Metrics, MetricsQuery, ReadMetrics } from './metrics.ts'
import { unpackCounts, unpackUse } from './usageCounts.ts'
import { splitByTable } from './usagePlan.ts'
import type { PeriodPart, StoredFrom } from './usagePlan.ts'
import { readState } from './usageRows.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../lib/time.ts'

const stepsMs = { minute: minuteMs, hour: hourMs, day: dayMs } as const
const maxSteps = 20_000
/** Rows per query: few, because reading them blocks the thread. */
const pageRows = 100

interface Totals {
  total: number
  succeeded: number
  reverted: number
}

interface Sum extends Totals {
  readonly buckets: Uint32Array
}

const createSum = (): Sum => ({ total: 0, succeeded: 0, reverted: 0, buckets: new Uint32Array(bucketCount) })

const addTotals = (sum: Totals, { total, succeeded, reverted }: Totals): void => {
  sum.total += total
  sum.succeeded += succeeded
  sum.reverted += reverted
}

const toLatency = (buckets: Uint32Array): { p50: number | null; p95: number | null } => ({
  p50: percentile(buckets, 0.5),
  p95: percentile(buckets, 0.95),
})

/** What equal calls have in common. */
interface CallKind {
  readonly method: string
  readonly network: Network
  readonly outcome: string
}

/** Checks that calls have everything that a filter selects. */
const matches = (filter: CallFilter = {}, { method, network, outcome }: CallKind): boolean =>
  (filter.method === undefined || filter.method === method) &&
  (filter.network === undefined || filter.network === network) &&
  (filter.outcome === undefined || filter.outcome === outcome)

/** How many calls of one method, network and outcome there were, and what they were charged. */
interface Charge {
  readonly outcome: string
  readonly isPushed: boolean
  total: number
  units: number
}

const addUp = (counts: Float64Array): number => counts.reduce((sum, count) => sum + count, 0)

/** The counts of a period: in all, and for each of its steps. */
interface Sums {
  readonly from: number
  readonly stepMs: number
  readonly steps: number
  readonly filter: CallFilter | undefined
  readonly totals: Float64Array
  readonly successes: Float64Array
  readonly reverts: Float64Array
  /** In all: calls whose result was in the chain store. */
  stored: number
  readonly connections: Float64Array
  readonly notifications: Float64Array
  /** Those of all steps, one after the other. */
  readonly buckets: Uint32Array
  readonly methods: Map<string, Sum>
  readonly outcomes: Map<string, number>
  readonly networks: Map<Network, Totals>
  /** By method, network and outcome. */
  readonly charges: Map<string, Charge>
}

const createSums = ({ from, to, step, filter }: MetricsQuery): Sums => {
  const stepMs = stepsMs[step]
  const start = floorTo(from, stepMs)
  const steps = (floorTo(to + stepMs - 1, stepMs) - start) / stepMs
  if (!(steps >= 1 && steps <= maxSteps))
    throw new RangeError(`from and to must be 1 to ${maxSteps} steps apart: choose a longer step or a shorter span`)
  return {
    from: start,
    stepMs,
    steps,
    filter,
    totals: new Float64Array(steps),
    successes: new Float64Array(steps),
    reverts: new Float64Array(steps),
    stored: 0,
    connections: new Float64Array(steps),
    notifications: new Float64Array(steps),
    buckets: new Uint32Array(steps * bucketCount),
    methods: new Map(),
    outcomes: new Map(),
    networks: new Map(),
    charges: new Map(),
  }
}

/** What a row says of the calls. */
interface CountedRow {
  readonly at: number
  readonly counts: string
  readonly used: string
  readonly stored: string
}

/** Notifications and opened WebSockets are no calls. A call of such a method is rejected. */
const isPushed = (method: string, outcome: string): boolean =>
  outcome === 'succeeded' && (method === connectionMethod || method === notificationMethod)

const getCharge = ({ charges }: Sums, { method, network, outcome }: CallKind): Charge => {
  const name = `${method}\n${network}\n${outcome}`
  let charge = charges.get(name)
  if (charge === undefined)
    charges.set(name, (charge = { outcome, isPushed: isPushed(method, outcome), total: 0, units: 0 }))
  return charge
}

/** Compares what calls were charged with their number. */
const toCharged = ({ charges }: Sums): Charged => {
  const free = new Map<string, number>()
  let [units, weighted, notifications] = [0, 0, 0]
  for (const charge of charges.values()) {
    units += charge.units
    if (charge.isPushed) notifications += charge.units
    else if (charge.units > charge.total) weighted += charge.units - charge.total
    else if (charge.units < charge.total)
      free.set(charge.outcome, (free.get(charge.outcome) ?? 0) + charge.total - charge.units)
  }
  return { units, free: toSorted(free), weighted, notifications }
}

/** Lists counts by outcome, the most frequent first. */
const toSorted = (outcomes: ReadonlyMap<string, number>): { outcome: string; total: number }[] =>
  [...outcomes].map(([outcome, total]) => ({ outcome, total })).sort((one, other) => other.total - one.total)

/** Adds the counts of a row. */
const addCounts = (sums: Sums, { at, counts, used, stored }: CountedRow): void => {
  const { methods, networks, outcomes, buckets } = sums
  const point = Math.max(0, Math.floor((at - sums.from) / sums.stepMs))
  for (const [method, network, outcome, total] of unpackCounts(stored) ?? [])
    if (matches(sums.filter, { method, network, outcome })) sums.stored += total
  for (const [method, network, outcome, units] of unpackUse(used) ?? [])
    if (matches(sums.filter, { method, network, outcome })) getCharge(sums, { method, network, outcome }).units += units
  // The roll-up reports rows that cannot be parsed.
  for (const cell of unpackCounts(counts) ?? []) {
    const [method, network, outcome, total] = cell
    if (!matches(sums.filter, { method, network, outcome })) continue
    if (isPushed(method, outcome)) {
      const counted = method === connectionMethod ? sums.connections : sums.notifications
      counted[point] = (counted[point] ?? 0) + total
      continue
    }
    getCharge(sums, { method, network, outcome }).total += total
    let sum = methods.get(method)
    if (sum === undefined) methods.set(method, (sum = createSum()))
    const succeeded = outcome === 'succeeded' ? total : 0
    const reverted = outcome === 'reverted' ? total : 0
    addTotals(sum, { total, succeeded, reverted })
    sums.totals[point] = (sums.totals[point] ?? 0) + total
    sums.successes[point] = (sums.successes[point] ?? 0) + succeeded
    sums.reverts[point] = (sums.reverts[point] ?? 0) + reverted
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + total)
    let byNetwork = networks.get(network)
    if (byNetwork === undefined) networks.set(network, (byNetwork = { total: 0, succeeded: 0, reverted: 0 }))
    addTotals(byNetwork, { total, succeeded, reverted })
    if (!forwardedOutcomes.has(outcome)) continue
    for (let index = 4; index < cell.length; index += 2) {
      const bucket = cell[index] as number
      const count = cell[index + 1] as number
      sum.buckets[bucket] = (sum.buckets[bucket] ?? 0) + count
      const bucketIndex = point * bucketCount + bucket
      buckets[bucketIndex] = (buckets[bucketIndex] ?? 0) + count
    }
  }
}

const toMetrics = (sums: Sums, { daysFrom }: StoredFrom): Metrics => {
  const { from, stepMs, steps, totals, successes, reverts, connections, notifications, buckets } = sums
  const { methods, outcomes, networks } = sums
  const sumOfAll = createSum()
  for (const sum of methods.values()) {
    addTotals(sumOfAll, sum)
    for (let bucket = 0; bucket < bucketCount; bucket += 1)
      sumOfAll.buckets[bucket] = (sumOfAll.buckets[bucket] ?? 0) + (sum.buckets[bucket] ?? 0)
  }
  return {
    total: sumOfAll.total,
    succeeded: sumOfAll.succeeded,
    reverted: sumOfAll.reverted,
    stored: sums.stored,
    charged: toCharged(sums),
    storedFrom: daysFrom,
    successRate: sumOfAll.total === 0 ? null : (sumOfAll.succeeded + sumOfAll.reverted) / sumOfAll.total,
    latencyMs: {
      ...toLatency(sumOfAll.buckets),
      p90: percentile(sumOfAll.buckets, 0.9),
      p99: percentile(sumOfAll.buckets, 0.99),
    },
    connections: addUp(connections),
    notifications: addUp(notifications),
    series: Array.from({ length: steps }, (_, point) => ({
      at: from + point * stepMs,
      total: totals[point] ?? 0,
      succeeded: successes[point] ?? 0,
      reverted: reverts[point] ?? 0,
      p50: percentile(buckets, 0.5, point * bucketCount),
      p95: percentile(buckets, 0.95, point * bucketCount),
      connections: connections[point] ?? 0,
      notifications: notifications[point] ?? 0,
    })),
    byMethod: [...methods]
      .map(([method, { buckets: latencies, ...counts }]) => ({ method, ...counts, ...toLatency(latencies) }))
      .sort((one, other) => other.total - one.total),
    byOutcome: toSorted(outcomes),
    byNetwork: [...networks]
      .map(([network, counts]) => ({ network, ...counts }))
      .sort((one, other) => other.total - one.total),
  }
}

const findKeys = async ({ query }: Db, subject: MetricsQuery['subject']): Promise<readonly string[]> => {
  if ('keyId' in subject) return [subject.keyId, toOldKeyId(subject.keyId)]
  const [column, id] = 'appId' in subject ? (['appId', subject.appId] as const) : (['userId', subject.userId] as const)
  const rows = await query.selectFrom('usageKeys').select('keyId').where(column, '=', id).orderBy('keyId').execute()
  return rows.map(({ keyId }) => keyId)
}

/** Passes every row of a key in a period to `add`. */
const eachRow = async (
  db: Db,
  keyId: string,
  { table, from, to }: PeriodPart,
  add: (row: CountedRow) => void,
): Promise<void> => {
  if (from >= to) return
  let after: { at: number; run: string } | undefined
  for (;;) {
    const rows: readonly (CountedRow & { readonly run?: string })[] =
      table === 'usageMinutes'
        ? await minutesAfter(db, keyId, { from, to, after })
        : await db.query
            .selectFrom(table)
            .select(['at', 'counts', 'used', 'stored'])
            .where('keyId', '=', keyId)
            .where('at', '>=', after === undefined ? from : after.at + 1)
            .where('at', '<', to)
            .orderBy('at')
            .limit(pageRows)
            .execute()
    for (const row of rows) add(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = { at: last.at, run: last.run ?? '' }
    await nextRound()
  }
}

const minutesAfter = (
  { query }: Db,
  keyId: string,
  { from, to, after }: { from: number; to: number; after: { at: number; run: string } | undefined },
) =>
  query
    .selectFrom('usageMinutes')
    .select(['at', 'counts', 'used', 'stored', 'run'])
    .where('keyId', '=', keyId)
    .where('at', '>=', after?.at ?? from)
    .where('at', '<', to)
    .$if(after !== undefined, (query) =>
      query.where((row) => row.or([row('at', '>', after?.at ?? 0), row('run', '>', after?.run ?? '')])),
    )
    .orderBy('at')
    .orderBy('run')
    .limit(pageRows)
    .execute()

/**
 * Creates a reader of usage. It returns counts once the meter has written them, half a second later. If a period starts before the retention of
 * its step, its oldest points cover an hour or a day.
 */
export const createReadMetrics =
  ({ storage: { db } }: { storage: Pick<Storage, 'db'> }): ReadMetrics =>
  async (query) => {
    const sums = createSums(query)
    const { from, stepMs, steps } = sums
    const state = await readState(db)
    for (const keyId of await findKeys(db, query.subject))
      for (const part of splitByTable(state, { from, to: from + steps * stepMs, step: query.step }))
        await eachRow(db, keyId, part, (row) => addCounts(sums, row))
    return toMetrics(sums, state)
  }
