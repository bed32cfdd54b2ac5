import type { Storage } from '../../storage/openStorage.ts'
import { deleteRows } from '../../storage/steps.ts'
import { dropPartitions } from './dayPartitions.ts'
import { defaultRetention, planRetention } from './usagePlan.ts'
import type { UsageRetention } from './usagePlan.ts'
import { readState, writeStoredFrom } from './usageRows.ts'

/**
 * Removes rows past their retention, a few at a time, but never rows that are not rolled up yet. PostgreSQL drops the minutes of whole days.
 * @param options.now - Milliseconds since 1970.
 * @param options.stopped - Called between steps; true stops.
 * @throws {StorageError}
 */
export const pruneUsage = async (
  storage: Pick<Storage, 'db' | 'write'>,
  {
    now,
    retention = defaultRetention,
    stopped = () => false,
  }: { now: number; retention?: UsageRetention; stopped?: () => boolean },
): Promise<void> => {
  const { db } = storage
  const state = await readState(db)
  const planned = planRetention(state, { retention, now })
  const { minutesFrom, hoursFrom, daysFrom } = planned
  if (minutesFrom > state.minutesFrom || hoursFrom > state.hoursFrom || daysFrom > state.daysFrom)
    await writeStoredFrom(storage, planned)
  const isPartitioned = db.kind === 'postgres'
  if (isPartitioned) await dropPartitions(db, 'usage_minutes', { storedFrom: minutesFrom, now })
  const removals = [
    // Only counts that arrived late are in no partition of their day.
    { table: isPartitioned ? 'usage_minutes_default' : 'usage_minutes', columns: 'at, key_id, run', from: minutesFrom },
    { table: 'usage_hours', columns: 'at, key_id', from: hoursFrom },
    { table: 'usage_days', columns: 'at, key_id', from: daysFrom },
  ]
  for (const { table, columns, from } of removals)
    await deleteRows(storage, { table, columns, where: 'at < ? order by at', value: from }, stopped)
}
