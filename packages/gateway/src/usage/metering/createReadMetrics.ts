import { setImmediate as nextRound } from 'node:timers/promises'
import { networkNames } from '../../lib/network.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { bucketCount, percentile } from './latencyBuckets.ts'
import type { Metrics, MetricsQuery, ReadMetrics } from './metrics.ts'
import { unpackCounts } from './usageCounts.ts'
import { dayMs, floorTo, hourMs, minuteMs, readState } from './usageRows.ts'
import type { UsageState } from './usageRows.ts'

const stepsMs = { minute: minuteMs, hour: hourMs, day: dayMs } as const
const maxSteps = 20_000
/** Rows of one answer of the database: small, as reading them holds the thread. */
const pageRows = 100

/** What went on to a node, so that its latency is one. */
const forwarded: ReadonlySet<string> = new Set(['succeeded', 'nodeError', 'upstreamFailed'])

interface Sum {
  total: number
  succeeded: number
  readonly buckets: Uint32Array
}

const createSum = (): Sum => ({ total: 0, succeeded: 0, buckets: new Uint32Array(bucketCount) })

const latencyOf = ({ buckets }: Sum): { p50: number | null; p95: number | null } => ({
  p50: percentile(buckets, 0.5),
  p95: percentile(buckets, 0.95),
})

/** Which table tells of which part of a span: each the coarsest that fits the step, or else that still has its rows. */
const partsOf = (
  { hoursTo, daysTo, minutesFrom, hoursFrom }: UsageState,
  { from, to, step }: { from: number; to: number; step: MetricsQuery['step'] },
) => {
  const minutesBegin = step === 'minute' ? minutesFrom : hoursTo
  const hoursBegin = Math.min(step === 'day' ? daysTo : hoursFrom, minutesBegin)
  return [
    { table: 'usageDays', from, to: Math.min(to, hoursBegin) },
    { table: 'usageHours', from: Math.max(from, hoursBegin), to: Math.min(to, minutesBegin) },
    { table: 'usageMinutes', from: Math.max(from, minutesBegin), to },
  ] as const
}

/**
 * Makes the reader of what a meter has written. What is counted is seen once it is written, half a second later. Where a span reaches back further than
 * a step is kept, its oldest points hold an hour or a day.
 */
export const createReadMetrics = ({ storage: { db } }: { storage: Pick<Storage, 'db'> }): ReadMetrics => {
  const keysOf = async (subject: MetricsQuery['subject']): Promise<readonly string[]> => {
    if ('keyId' in subject) return [subject.keyId]
    const [column, id] =
      'appId' in subject ? (['appId', subject.appId] as const) : (['userId', subject.userId] as const)
    const rows = await db.query
      .selectFrom('usageKeys')
      .select('keyId')
      .where(column, '=', id)
      .orderBy('keyId')
      .execute()
    return rows.map(({ keyId }) => keyId)
  }

  /** Gives every row of a key in a span to `add`. */
  const eachRow = async (
    keyId: string,
    { table, from, to }: ReturnType<typeof partsOf>[number],
    add: (at: number, counts: string) => void,
  ): Promise<void> => {
    if (from >= to) return
    let after: { at: number; run: string } | undefined
    for (;;) {
      const rows: readonly { at: number; counts: string; run?: string }[] =
        table === 'usageMinutes'
          ? await minutesAfter(keyId, { from, to, after })
          : await db.query
              .selectFrom(table)
              .select(['at', 'counts'])
              .where('keyId', '=', keyId)
              .where('at', '>=', after === undefined ? from : after.at + 1)
              .where('at', '<', to)
              .orderBy('at')
              .limit(pageRows)
              .execute()
      for (const { at, counts } of rows) add(at, counts)
      const last = rows.at(-1)
      if (last === undefined || rows.length < pageRows) return
      after = { at: last.at, run: last.run ?? '' }
      await nextRound()
    }
  }

  const minutesAfter = (
    keyId: string,
    { from, to, after }: { from: number; to: number; after: { at: number; run: string } | undefined },
  ) =>
    db.query
      .selectFrom('usageMinutes')
      .select(['at', 'counts', 'run'])
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

  return async (query): Promise<Metrics> => {
    const stepMs = stepsMs[query.step]
    const from = floorTo(query.from, stepMs)
    const to = floorTo(query.to + stepMs - 1, stepMs)
    const steps = (to - from) / stepMs
    if (!(steps >= 1 && steps <= maxSteps))
      throw new RangeError(`from and to must be 1 to ${maxSteps} steps apart: choose a longer step or a shorter span`)

    const all = createSum()
    const totals = new Float64Array(steps)
    const answers = new Float64Array(steps)
    const buckets = new Uint32Array(steps * bucketCount)
    const methods = new Map<string, Sum>()
    const outcomes = new Map<string, number>()
    const networks = networkNames.map((network) => ({ network, total: 0, succeeded: 0 }))

    const add = (at: number, counts: string): void => {
      const point = Math.max(0, Math.floor((at - from) / stepMs))
      for (const cell of unpackCounts(counts)) {
        const [method, network, outcome, total] = cell
        let sum = methods.get(method)
        if (sum === undefined) methods.set(method, (sum = createSum()))
        const succeeded = outcome === 'succeeded' ? total : 0
        sum.total += total
        sum.succeeded += succeeded
        totals[point] = (totals[point] ?? 0) + total
        answers[point] = (answers[point] ?? 0) + succeeded
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + total)
        const byNetwork = networks[network]
        if (byNetwork !== undefined) {
          byNetwork.total += total
          byNetwork.succeeded += succeeded
        }
        if (!forwarded.has(outcome)) continue
        for (let index = 4; index < cell.length; index += 2) {
          const bucket = cell[index] as number
          const count = cell[index + 1] as number
          sum.buckets[bucket] = (sum.buckets[bucket] ?? 0) + count
          const place = point * bucketCount + bucket
          buckets[place] = (buckets[place] ?? 0) + count
        }
      }
    }

    const state = await readState(db)
    for (const keyId of await keysOf(query.subject))
      for (const part of partsOf(state, { from, to, step: query.step })) await eachRow(keyId, part, add)

    for (const sum of methods.values()) {
      all.total += sum.total
      all.succeeded += sum.succeeded
      for (let bucket = 0; bucket < bucketCount; bucket += 1)
        all.buckets[bucket] = (all.buckets[bucket] ?? 0) + (sum.buckets[bucket] ?? 0)
    }
    return {
      total: all.total,
      succeeded: all.succeeded,
      successRate: all.total === 0 ? null : all.succeeded / all.total,
      latencyMs: { ...latencyOf(all), p90: percentile(all.buckets, 0.9), p99: percentile(all.buckets, 0.99) },
      series: Array.from({ length: steps }, (_, point) => ({
        at: from + point * stepMs,
        total: totals[point] ?? 0,
        succeeded: answers[point] ?? 0,
        p50: percentile(buckets, 0.5, point * bucketCount),
        p95: percentile(buckets, 0.95, point * bucketCount),
      })),
      byMethod: [...methods]
        .map(([method, sum]) => ({ method, total: sum.total, succeeded: sum.succeeded, ...latencyOf(sum) }))
        .sort((one, other) => other.total - one.total),
      byOutcome: [...outcomes]
        .map(([outcome, total]) => ({ outcome, total }))
        .sort((one, other) => other.total - one.total),
      byNetwork: networks,
    }
  }
}
