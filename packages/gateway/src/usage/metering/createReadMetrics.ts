import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import type { Db } from '../../storage/tables.ts'
import { toOldKeyId } from './meter.ts'
import type { MetricsQuery, ReadMetrics } from './metrics.ts'
import { addCounts, createMetricsSums, toMetrics } from './metricsSums.ts'
import { splitByTable } from './usagePlan.ts'
import type { PeriodPart } from './usagePlan.ts'
import { readState } from './usageRows.ts'
import { dayMs, floorTo, hourMs, minuteMs } from './usageTime.ts'

const stepsMs = { minute: minuteMs, hour: hourMs, day: dayMs } as const
const maxSteps = 20_000
/** Rows per query: few, because reading them blocks the thread. */
const pageRows = 100

/**
 * Creates a reader of usage. It returns counts once the meter has written them, half a second later. If a period starts before the retention of
 * its step, its oldest points cover an hour or a day.
 */
export const createReadMetrics =
  ({ storage: { db } }: { storage: Pick<Storage, 'db'> }): ReadMetrics =>
  async (query) => {
    const stepMs = stepsMs[query.step]
    const from = floorTo(query.from, stepMs)
    const to = floorTo(query.to + stepMs - 1, stepMs)
    const steps = (to - from) / stepMs
    if (!(steps >= 1 && steps <= maxSteps))
      throw new RangeError(`from and to must be 1 to ${maxSteps} steps apart: choose a longer step or a shorter span`)
    const sums = createMetricsSums({ from, stepMs, steps, filter: query.filter })
    const state = await readState(db)
    for (const keyId of await findKeys(db, query.subject))
      for (const part of splitByTable(state, { from, to, step: query.step }))
        await eachRow(db, keyId, part, (at, counts) => addCounts(sums, at, counts))
    return toMetrics(sums)
  }

/** Finds the keys whose calls are counted. */
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
  add: (at: number, counts: string) => void,
): Promise<void> => {
  if (from >= to) return
  let after: { at: number; run: string } | undefined
  for (;;) {
    const rows: readonly { at: number; counts: string; run?: string }[] =
      table === 'usageMinutes'
        ? await minutesAfter(db, keyId, { from, to, after })
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
  db: Db,
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
