import { setImmediate as nextRound } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import { inTransaction } from '../../storage/transaction.ts'
import type { Db } from '../../storage/tables.ts'
import { addPacked, createUsageCounts, packCounts, totalOf } from './usageCounts.ts'
import type { UsageCounts } from './usageCounts.ts'
import { dayMs, floorTo, holdState, hourMs, inLightTransaction, minuteMs, readState, writeRollUp } from './usageRows.ts'
import type { UsageState } from './usageRows.ts'

/** How long usage is kept, in milliseconds. */
export interface UsageRetention {
  /** By the minute. @default 8 days */
  readonly minutesMs: number
  /** By the hour. @default 90 days */
  readonly hoursMs: number
  /** By the day. @default 730 days */
  readonly daysMs: number
}

/** How long usage is kept where nothing else is said. */
export const defaultRetention: UsageRetention = Object.freeze({
  minutesMs: 8 * dayMs,
  hoursMs: 90 * dayMs,
  daysMs: 730 * dayMs,
})

/** Of one key, an hour holds 60 rows of each process that ran in it. */
const keysAtOnce = 8
const pageRows = 2_000
const deletedAtOnce = 250
/** How long after its end an hour is rolled up: what comes later makes that void. */
const graceMs = minuteMs

/** One table that is made of a finer one. */
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

/** The keys that were used in a span. Asked step by step, as each answer holds the thread. */
const keysIn = async ({ query }: Db, { from, stepMs, spanMs }: Level, start: number): Promise<readonly string[]> => {
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

/** Makes the rows of some keys in a span anew, out of all finer rows. */
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
    [...byKey].map(([keyId, sum]) => ({ at: start, keyId, total: totalOf(sum), counts: packCounts(sum) })),
  )
}

/** Up to when a level could be rolled up now. */
const readyTo = ({ spanMs, done }: Level, { hoursTo }: UsageState, now: number): number =>
  floorTo(done === 'hoursTo' ? now - graceMs : hoursTo, spanMs)

/** The first span of a level in which there is something to roll up. */
const nextSpan = async (
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

/** @returns Whether nobody has rolled up, or made void, what we do. */
const unmoved = (now: UsageState, before: UsageState): boolean =>
  now.version === before.version && now.hoursTo === before.hoursTo && now.daysTo === before.daysTo

/** Does something to the state, if it is as it was. @returns Whether it was. */
const ifUnmoved = (
  db: Db,
  before: UsageState,
  work: (transaction: Db, state: UsageState) => Promise<boolean>,
): Promise<boolean> =>
  inTransaction(db, async (transaction) => {
    const state = await holdState(transaction)
    return unmoved(state, before) && work(transaction, state)
  })

const setState = async ({ query }: Db, state: Partial<UsageState>): Promise<true> => {
  await query.updateTable('usageState').set(state).execute()
  return true
}

/** Passes over time in which nothing was counted. */
const passOver = (db: Db, level: Level, end: number, before: UsageState): Promise<boolean> =>
  ifUnmoved(db, before, async (transaction, state) => {
    if ((await nextSpan(transaction, level, state, end)) !== undefined) return false
    return setState(transaction, { [level.done]: end, rollingTo: Math.max(state.rollingTo, end) })
  })

/**
 * Rolls one span up. It is made of all its finer rows, which are still there, so that what was done before a crash is done again and counts nothing
 * twice; it is used once the whole of it is done.
 * @returns Whether it was done.
 */
const rollUpSpan = async (
  db: Db,
  level: Level,
  { start, before, stopped }: { start: number; before: UsageState; stopped: () => boolean },
): Promise<boolean> => {
  const end = start + level.spanMs
  const begun = await ifUnmoved(db, before, (transaction, { rollingTo }) =>
    setState(transaction, { rollingTo: Math.max(rollingTo, end) }),
  )
  if (!begun) return false
  const keys = await keysIn(db, level, start)
  for (let index = 0; index < keys.length; index += keysAtOnce) {
    if (stopped()) return false
    const done = await inLightTransaction(db, async (transaction) => {
      if (!unmoved(await holdState(transaction), before)) return false
      await rollUpKeys(transaction, level, start, keys.slice(index, index + keysAtOnce))
      return true
    })
    if (!done) return false
    await nextRound()
  }
  // On the disk before the finer rows may go.
  return ifUnmoved(db, before, (transaction) => setState(transaction, { [level.done]: end }))
}

/**
 * Makes hours of minutes and days of hours, of all that is over. May run on several instances at once, and be killed at any time.
 * @param options.now - Milliseconds since 1970.
 * @param options.stopped - Asked between steps.
 */
export const rollUp = async (
  db: Db,
  { now, stopped = () => false }: { now: number; stopped?: () => boolean },
): Promise<void> => {
  for (const level of [hours, days]) {
    // Who is overtaken by others again and again leaves it to the next time.
    for (let overtaken = 0; overtaken < 3 && !stopped();) {
      const before = await readState(db)
      const end = readyTo(level, before, now)
      if (end <= before[level.done]) break
      const start = await nextSpan(db, level, before, end)
      const done =
        start === undefined
          ? await passOver(db, level, end, before)
          : await rollUpSpan(db, level, { start, before, stopped })
      if (!done) overtaken += 1
    }
  }
}

/**
 * Removes what is older than it is kept, a few rows at a time: never what is not rolled up yet.
 * @param options.now - Milliseconds since 1970.
 * @param options.stopped - Asked between steps.
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
  const froms = await inTransaction(db, async (transaction) => {
    const state = await holdState(transaction)
    const minutesFrom = Math.max(state.minutesFrom, floorTo(Math.min(now - minutesMs, state.hoursTo), hourMs))
    // What comes late is rolled up again by whole days.
    const whole = Math.min(now - hoursMs, state.daysTo, minutesFrom)
    const hoursFrom = Math.max(state.hoursFrom, floorTo(whole, dayMs))
    const daysFrom = Math.max(state.daysFrom, floorTo(Math.min(now - daysMs, hoursFrom), dayMs))
    await transaction.query.updateTable('usageState').set({ minutesFrom, hoursFrom, daysFrom }).execute()
    return [
      { table: 'usage_minutes', columns: 'at, key_id, run', from: minutesFrom },
      { table: 'usage_hours', columns: 'at, key_id', from: hoursFrom },
      { table: 'usage_days', columns: 'at, key_id', from: daysFrom },
    ]
  })
  for (const { table, columns, from } of froms) {
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
