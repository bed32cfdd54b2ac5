import { randomInt } from 'node:crypto'
import type { Storage } from '../../storage/openStorage.ts'
import type { Db } from '../../storage/tables.ts'
import type { Step } from '../../storage/database.ts'
import { toInserts, toStep } from '../../storage/steps.ts'
import type { Insertion } from '../../storage/steps.ts'
import type { MinuteRow } from './createMeterBuffer.ts'
import type { MeteredKey } from './meter.ts'
import { toUsageState } from './usagePlan.ts'
import type { DueSpan, Level, PendingMark, StoredFrom, UsageState } from './usagePlan.ts'
import { dayMs, floorTo, hourMs } from '../../lib/time.ts'

const keysInsertion: Insertion<'keyId' | 'appId' | 'userId'> = {
  into: 'usage_keys',
  columns: ['keyId', 'appId', 'userId'],
  conflict: 'do nothing',
}
const minutesInsertion: Insertion<keyof RollUpRow | 'run'> = {
  into: 'usage_minutes',
  columns: ['at', 'keyId', 'run', 'total', 'counts', 'used', 'stored'],
  conflict: `(at, key_id, run) do update set total = excluded.total, counts = excluded.counts, used = excluded.used,
      stored = excluded.stored
    where excluded.total > usage_minutes.total`,
}
/** The counts of one key in one hour or day. */
export interface RollUpRow {
  readonly at: number
  readonly keyId: string
  readonly total: number
  readonly counts: string
  readonly used: string
  readonly stored: string
}

const pendingInsertion: Insertion<'level' | 'at' | 'run' | 'version'> = {
  into: 'usage_pending',
  columns: ['level', 'at', 'run', 'version'],
  conflict: '(level, at, run) do update set version = excluded.version',
}
/** Stored counts only grow. So the larger total is the newer one, even if two instances roll up at once. */
const toRollUpInsertion = (into: Level['into']): Insertion<keyof RollUpRow> => ({
  into,
  columns: ['at', 'keyId', 'total', 'counts', 'used', 'stored'],
  conflict: `(at, key_id) do update set total = excluded.total, counts = excluded.counts, used = excluded.used,
      stored = excluded.stored
    where excluded.total > ${into}.total`,
})

/** Each write of a mark has another version. */
const newVersion = (): number => randomInt(2 ** 48 - 1)

/** Reads from when on each table has its rows, and up to when they are rolled up. */
export const readState = async ({ query }: Db): Promise<UsageState> => {
  const row = await query
    .selectFrom('usageState')
    .select(['minutesFrom', 'hoursFrom', 'daysFrom'])
    .select(({ selectFrom }) => [
      selectFrom('usagePending')
        .select(({ fn }) => fn.min('at').as('at'))
        .where('level', '=', 'hour')
        .as('hour'),
      selectFrom('usagePending')
        .select(({ fn }) => fn.min('at').as('at'))
        .where('level', '=', 'day')
        .as('day'),
    ])
    .executeTakeFirstOrThrow()
  const { minutesFrom, hoursFrom, daysFrom, hour, day } = row
  return toUsageState({ minutesFrom, hoursFrom, daysFrom }, { hour: hour ?? undefined, day: day ?? undefined })
}

/** Reads what is marked to be rolled up at a level. */
export const readPending = ({ query }: Db, { name }: Level): Promise<readonly PendingMark[]> =>
  query.selectFrom('usagePending').select(['at', 'run', 'version']).where('level', '=', name).execute()

/**
 * Builds the statements that write counts of minutes. Rows are cumulative and never replaced by a smaller total, so that a write may be repeated.
 * @param keys - Keys of these rows that may not be in the database.
 */
export const toMinuteSteps = (
  kind: Db['kind'],
  { rows, keys }: { rows: readonly MinuteRow[]; keys: readonly MeteredKey[] },
): readonly Step[] => {
  const hours = new Map(rows.map(({ at, run }) => [`${floorTo(at, hourMs)} ${run}`, { at: floorTo(at, hourMs), run }]))
  return [
    ...toInserts(
      kind,
      minutesInsertion,
      rows.map((row) => ({ ...row, keyId: row.key.id })),
    ),
    ...toInserts(
      kind,
      pendingInsertion,
      [...hours.values()].map((hour) => ({ ...hour, level: 'hour', version: newVersion() })),
    ),
    // Last, because another instance that inserts the same keys waits from here to the commit.
    ...toInserts(
      kind,
      keysInsertion,
      // In one order, because two instances that insert the same keys in different orders would deadlock.
      keys
        .map(({ id, appId = null, userId = null }) => ({ keyId: id, appId, userId }))
        .sort((one, other) => (one.keyId < other.keyId ? -1 : 1)),
    ),
  ]
}

/** Writes rolled-up rows. A row with fewer calls than the stored one is ignored. */
export const writeRollUp = async (
  { db: { kind }, write }: Pick<Storage, 'db' | 'write'>,
  into: Level['into'],
  rows: readonly RollUpRow[],
): Promise<void> => {
  await write(toInserts(kind, toRollUpInsertion(into), rows), { light: true })
}

/**
 * Removes the marks of an hour or day that was rolled up, except those that were written again since. Marks the day of a rolled-up hour.
 * Everything that was written before is on the disk afterwards.
 */
export const finishSpan = async (
  { db: { kind }, write }: Pick<Storage, 'db' | 'write'>,
  { name }: Level,
  { at, marks, isExpired }: DueSpan,
): Promise<void> => {
  const day =
    name === 'hour' && !isExpired
      ? toInserts(kind, pendingInsertion, [{ level: 'day', at: floorTo(at, dayMs), run: '', version: newVersion() }])
      : []
  const removals = marks.map(({ run, version }) =>
    toStep(kind, 'delete from usage_pending where level = ? and at = ? and run = ? and version = ?', [
      name,
      at,
      run,
      version,
    ]),
  )
  // The removals come last: until the commit, a writer that marks this hour again waits for them.
  await write([...day, ...removals])
}

/** Records from when on each table keeps its rows. On the disk before rows are removed. */
export const writeStoredFrom = async (
  { db: { kind }, write }: Pick<Storage, 'db' | 'write'>,
  { minutesFrom, hoursFrom, daysFrom }: StoredFrom,
): Promise<void> => {
  await write([
    toStep(kind, 'update usage_state set minutes_from = ?, hours_from = ?, days_from = ?', [
      minutesFrom,
      hoursFrom,
      daysFrom,
    ]),
  ])
}
