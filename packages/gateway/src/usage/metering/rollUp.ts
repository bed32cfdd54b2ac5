import { setImmediate as nextRound } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import { inTransaction } from '../../storage/transaction.ts'
import type { Db } from '../../storage/tables.ts'
import { addPacked, createUsageCounts, packCounts, getTotal } from './usageCounts.ts'
import type { UsageCounts } from './usageCounts.ts'
import { dayMs, floorTo, lockState, hourMs, inLightTransaction, minuteMs, readState, writeRollUp } from './usageRows.ts'
import type { UsageState } from './usageRows.ts'

/** How long usage is retained, in milliseconds. */
export interface UsageRetention {
  /** Minutes. @default 8 days */
  readonly minutesMs: number
  /** Hours. @default 90 days */
  readonly hoursMs: number
  /** Days. @default 730 days */
  readonly daysMs: number
}

/** The default retention. */
export const defaultRetention: UsageRetention = Object.freeze({
  minutesMs: 8 * dayMs,
  hoursMs: 90 * dayMs,
  daysMs: 730 * dayMs,
})

/** Keys per transaction: an hour of one key has 60 rows per process. */
const keysAtOnce = 8
const pageRows = 2_000
const deletedAtOnce = 250
/** How long after its end an hour is rolled up. Counts that arrive later schedule it again. */
const graceMs = minuteMs

/** A table that is rolled up from a finer one. */
interface Level {
  readonly from: 'usageMinutes' | 'usageHours'
  readonly into: 'usage_hours' | 'usage_days'
  readonly spanMs: number
  readonly stepMs: number
  /** Up to when the level is rolled up. */
  readonly done: 'hoursTo' | 'daysTo'
}

const hours: Level = { from: 'usageMinutes', into: 'usage_hours', spanMs: hourMs, stepMs: minuteMs, done: 'hoursTo' }
const days: Level = { from: 'usageHours', into: 'usage_days', spanMs: dayMs, stepMs: hourMs, done: 'daysTo' }

/** Finds the keys used in a period, step by step, because reading rows blocks the thread. */
const findKeys = async ({ query }: Db, { from, stepMs, spanMs }: Level, start: number): Promise<readonly string[]> => {
  const keys = new Set<string>()
  for (let at = start; at < start + spanMs; at += stepMs) {
    let last = ''
    for (;;) {
      const rows = await query
        .selectFrom(from)
        .select('keyId')
        .distinct()
        .where('at', '=', at)
        .where('keyId', '>', last)
        .orderBy('keyId')
        .limit(pageRows)
        .execute()
      for (const { keyId } of rows) keys.add(keyId)
      await nextRound()
      if (rows.length < pageRows) break
      last = rows.at(-1)?.keyId ?? ''
    }
  }
  return [...keys]
}

/** Recomputes the rows of some keys in a period from all finer rows. */
const rollUpKeys = async (transaction: Db, level: Level, start: number, keys: readonly string[]): Promise<void> => {
  const rows = await transaction.query
    .selectFrom(level.from)
    .select(['keyId', 'counts'])
    .where('keyId', 'in', keys)
    .where('at', '>=', start)
    .where('at', '<', start + level.spanMs)
    .execute()
  const byKey = new Map<string, UsageCounts>()
  for (const { keyId, counts } of rows) {
    let sum = byKey.get(keyId)
    if (sum === undefined) byKey.set(keyId, (sum = createUsageCounts()))
    addPacked(sum, counts)
  }
  await writeRollUp(
    transaction,
    level.into,
    [...byKey].map(([keyId, sum]) => ({ at: start, keyId, total: getTotal(sum), counts: packCounts(sum) })),
  )
}

/** Returns up to when a level can be rolled up now. */
const getReadyTo = ({ spanMs, done }: Level, { hoursTo }: UsageState, now: number): number =>
  floorTo(done === 'hoursTo' ? now - graceMs : hoursTo, spanMs)

/** Finds the first period of a level with rows to roll up. */
const findNextSpan = async (
  { query }: Db,
  { from, spanMs, done }: Level,
  state: UsageState,
  end: number,
): Promise<number | undefined> => {
  const first = await query
    .selectFrom(from)
    .select('at')
    .where('at', '>=', state[done])
    .where('at', '<', end)
    .orderBy('at')
    .limit(1)
    .executeTakeFirst()
  return first && floorTo(first.at, spanMs)
}

/** Whether no other instance has rolled up or invalidated this period. */
const isUnchanged = (now: UsageState, before: UsageState): boolean =>
  now.version === before.version && now.hoursTo === before.hoursTo && now.daysTo === before.daysTo

/** Runs work if the state is unchanged. @returns Whether it ran and succeeded. */
const ifUnchanged = (
  db: Db,
  before: UsageState,
  work: (transaction: Db, state: UsageState) => Promise<boolean>,
): Promise<boolean> =>
  inTransaction(db, async (transaction) => {
    const state = await lockState(transaction)
    return isUnchanged(state, before) && work(transaction, state)
  })

const setState = async ({ query }: Db, state: Partial<UsageState>): Promise<true> => {
  await query.updateTable('usageState').set(state).execute()
  return true
}

/** Skips a period without counts. */
const skipTo = (db: Db, level: Level, end: number, before: UsageState): Promise<boolean> =>
  ifUnchanged(db, before, async (transaction, state) => {
    if ((await findNextSpan(transaction, level, state, end)) !== undefined) return false
    return setState(transaction, { [level.done]: end, rollingTo: Math.max(state.rollingTo, end) })
  })

/**
 * Rolls up one period. It recomputes rows from the finer ones, which still exist, so that repeating it after a crash counts nothing twice. Readers
 * use the result once the whole period is done.
 * @returns Whether it was done.
 */
const rollUpSpan = async (
  db: Db,
  level: Level,
  { start, before, stopped }: { start: number; before: UsageState; stopped: () => boolean },
): Promise<boolean> => {
  const end = start + level.spanMs
  const started = await ifUnchanged(db, before, (transaction, { rollingTo }) =>
    setState(transaction, { rollingTo: Math.max(rollingTo, end) }),
  )
  if (!started) return false
  const keys = await findKeys(db, level, start)
  for (let index = 0; index < keys.length; index += keysAtOnce) {
    if (stopped()) return false
    const done = await inLightTransaction(db, async (transaction) => {
      if (!isUnchanged(await lockState(transaction), before)) return false
      await rollUpKeys(transaction, level, start, keys.slice(index, index + keysAtOnce))
      return true
    })
    if (!done) return false
    await nextRound()
  }
  // Must be on the disk before the finer rows are removed.
  return ifUnchanged(db, before, (transaction) => setState(transaction, { [level.done]: end }))
}

/**
 * Rolls up completed minutes into hours and hours into days. May run on several instances at once, and may be killed at any time.
 * @param options.now - Milliseconds since 1970.
 * @param options.stopped - Called between steps; true stops.
 */
export const rollUp = async (
  db: Db,
  { now, stopped = () => false }: { now: number; stopped?: () => boolean },
): Promise<void> => {
  for (const level of [hours, days]) {
    // After three conflicts with other instances, leave the rest to the next round.
    for (let conflicts = 0; conflicts < 3 && !stopped();) {
      const before = await readState(db)
      const end = getReadyTo(level, before, now)
      if (end <= before[level.done]) break
      const start = await findNextSpan(db, level, before, end)
      const done =
        start === undefined
          ? await skipTo(db, level, end, before)
          : await rollUpSpan(db, level, { start, before, stopped })
      if (!done) conflicts += 1
    }
  }
}

/**
 * Removes rows past their retention, a few at a time, but never rows that are not rolled up yet.
 * @param options.now - Milliseconds since 1970.
 * @param options.stopped - Called between steps; true stops.
 */
export const pruneUsage = async (
  db: Db,
  {
    now,
    retention = defaultRetention,
    stopped = () => false,
  }: { now: number; retention?: UsageRetention; stopped?: () => boolean },
): Promise<void> => {
  const { minutesMs, hoursMs, daysMs } = retention
  const removals = await inTransaction(db, async (transaction) => {
    const state = await lockState(transaction)
    const minutesFrom = Math.max(state.minutesFrom, floorTo(Math.min(now - minutesMs, state.hoursTo), hourMs))
    // Late counts roll up whole days again.
    const removableTo = Math.min(now - hoursMs, state.daysTo, minutesFrom)
    const hoursFrom = Math.max(state.hoursFrom, floorTo(removableTo, dayMs))
    const daysFrom = Math.max(state.daysFrom, floorTo(Math.min(now - daysMs, hoursFrom), dayMs))
    await transaction.query.updateTable('usageState').set({ minutesFrom, hoursFrom, daysFrom }).execute()
    return [
      { table: 'usage_minutes', columns: 'at, key_id, run', from: minutesFrom },
      { table: 'usage_hours', columns: 'at, key_id', from: hoursFrom },
      { table: 'usage_days', columns: 'at, key_id', from: daysFrom },
    ]
  })
  for (const { table, columns, from } of removals) {
    const text = `delete from ${table} where (${columns}) in
      (select ${columns} from ${table} where at < ${db.kind === 'sqlite' ? '?' : '$1'} order by at limit ${deletedAtOnce})`
    for (;;) {
      if (stopped()) return
      const { numAffectedRows = 0n } = await inLightTransaction(db, ({ query }) =>
        query.executeQuery(CompiledQuery.raw(text, [from])),
      )
      await nextRound()
      if (numAffectedRows < deletedAtOnce) break
    }
  }
}
