import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import type { Db } from '../../storage/tables.ts'
import type { MeterEvent } from './meter.ts'
import {
  addPacked,
  addStored,
  addUse,
  createUsageCounts,
  getTotal,
  packCounts,
  packStored,
  packUse,
  unpackCounts,
  unpackUse,
} from './usageCounts.ts'
import type { UsageCounts } from './usageCounts.ts'
import { levels, planRollUp } from './usagePlan.ts'
import type { Level } from './usagePlan.ts'
import { finishSpan, readPending, readState, writeRollUp } from './usageRows.ts'
import type { RollUpRow } from './usageRows.ts'

/** Keys whose rows one query reads: an hour of a key has 60 rows per process. SQLite reads them in this thread. */
const keysPerQuery: Readonly<Record<Db['kind'], number>> = { sqlite: 8, postgres: 50 }
/** Rows that are parsed before other work gets its turn. */
const parsedAtOnce = 500
const maxKeysPerPage = 2_000
const writtenAtOnce = 250

/** Options of `rollUp`. */
export interface RollUpOptions {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Called between steps; true stops. @default () => false */
  readonly stopped?: () => boolean
  /** Called before each hour and day; false stops. @default always true */
  readonly isLeader?: () => Promise<boolean>
  readonly onEvent?: (event: MeterEvent) => void
}

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
        .limit(maxKeysPerPage)
        .execute()
      for (const { keyId } of rows) keys.add(keyId)
      await nextRound()
      if (rows.length < maxKeysPerPage) break
      last = rows.at(-1)?.keyId ?? ''
    }
  }
  return [...keys]
}

/** Sums the finer rows of some keys in a period. @returns The sums, and how many rows could not be parsed. */
const sumRows = async (
  { query }: Db,
  { from, spanMs }: Level,
  { start, keys }: { start: number; keys: readonly string[] },
): Promise<{ sums: ReadonlyMap<string, UsageCounts>; skipped: number }> => {
  const rows = await query
    .selectFrom(from)
    .select(['keyId', 'counts', 'used', 'stored'])
    .where('keyId', 'in', keys)
    .where('at', '>=', start)
    .where('at', '<', start + spanMs)
    .execute()
  const sums = new Map<string, UsageCounts>()
  let skipped = 0
  for (const [index, { keyId, counts, used, stored }] of rows.entries()) {
    if ((index + 1) % parsedAtOnce === 0) await nextRound()
    const cells = unpackCounts(counts)
    const uses = unpackUse(used)
    const storedCells = unpackCounts(stored)
    if (cells === undefined || uses === undefined || storedCells === undefined) {
      skipped += 1
      continue
    }
    let sum = sums.get(keyId)
    if (sum === undefined) sums.set(keyId, (sum = createUsageCounts()))
    addPacked(sum, cells)
    addUse(sum, uses)
    addStored(sum, storedCells)
  }
  return { sums, skipped }
}

/**
 * Rolls up one hour or day. It recomputes rows from the finer ones, which still exist, so that repeating it after a crash counts nothing twice.
 * No step locks rows that writers need.
 * @returns Whether it was completed; `false` if `stopped` returned true.
 */
const rollUpSpan = async (
  storage: Pick<Storage, 'db' | 'write'>,
  level: Level,
  { start, stopped, onEvent }: { start: number; stopped: () => boolean; onEvent: (event: MeterEvent) => void },
): Promise<boolean> => {
  const { db } = storage
  const keys = await findKeys(db, level, start)
  let skippedRows = 0
  let summed: RollUpRow[] = []
  for (let index = 0; index < keys.length; index += keysPerQuery[db.kind]) {
    if (stopped()) return false
    const { sums, skipped } = await sumRows(db, level, {
      start,
      keys: keys.slice(index, index + keysPerQuery[db.kind]),
    })
    skippedRows += skipped
    for (const [keyId, sum] of sums)
      summed.push({
        at: start,
        keyId,
        total: getTotal(sum),
        counts: packCounts(sum),
        used: packUse(sum),
        stored: packStored(sum),
      })
    if (summed.length >= writtenAtOnce) {
      await writeRollUp(storage, level.into, summed)
      summed = []
    }
    await nextRound()
  }
  if (summed.length > 0) await writeRollUp(storage, level.into, summed)
  if (skippedRows > 0) {
    const table = level.from === 'usageMinutes' ? 'usage_minutes' : 'usage_hours'
    onEvent({ event: 'meterRowsSkipped', table, at: start, rows: skippedRows })
  }
  return true
}

/**
 * Rolls up completed hours and days. One instance at a time should do it, to save work. But the result is right with several, because a row is
 * only replaced by one with more calls, and because a mark is only removed if nobody wrote it since. May be killed at any time.
 * @throws {StorageError}
 */
export const rollUp = async (
  storage: Pick<Storage, 'db' | 'write'>,
  { now, stopped = () => false, isLeader = () => Promise.resolve(true), onEvent = () => {} }: RollUpOptions,
): Promise<void> => {
  for (const level of levels) {
    const marks = await readPending(storage.db, level)
    for (const span of planRollUp(level, marks, { stored: await readState(storage.db), now })) {
      if (stopped() || !(await isLeader())) return
      if (!span.isExpired && !(await rollUpSpan(storage, level, { start: span.at, stopped, onEvent }))) return
      await finishSpan(storage, level, span)
    }
  }
}
