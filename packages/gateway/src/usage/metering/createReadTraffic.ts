import type { Storage } from '../../storage/openStorage.ts'
import type { ReadTraffic } from './activity.ts'
import { addCounts, createActivitySum, readRows } from './activityRows.ts'
import { toOldKeyId } from '../../storage/toOldKeyId.ts'
import { splitByTable } from './usagePlan.ts'
import type { PeriodPart } from './usagePlan.ts'
import { readState } from './usageRows.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../lib/time.ts'

/** The later one of two times. */
const getLater = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

/** Creates a reader of the traffic of a key before and after its last rotation. */
export const createReadTraffic = ({ storage: { db } }: { storage: Pick<Storage, 'db'> }): ReadTraffic => {
  /** Finds the last row of a key in a period. A row of an hour or day counts only if the period has all of it. */
  const findLast = async (keyId: string, from: number, to: number): Promise<number | null> => {
    for (const [table, stepMs] of [
      ['usageMinutes', minuteMs],
      ['usageHours', hourMs],
      ['usageDays', dayMs],
    ] as const) {
      const row = await db.query
        .selectFrom(table)
        .select(({ fn }) => fn.max('at').as('at'))
        .where('keyId', '=', keyId)
        .where('at', '>=', from)
        .where('at', '<', floorTo(to, stepMs))
        .executeTakeFirst()
      if (typeof row?.at === 'number') return row.at
    }
    return null
  }

  /** Splits a period so that no row has calls from both before and after the rotation. Its minutes are still stored: a grace period is shorter. */
  const split = async (from: number, to: number, rotatedAt: number): Promise<readonly PeriodPart[]> => {
    const state = await readState(db)
    const hour = floorTo(rotatedAt, hourMs)
    const next = hour + hourMs
    const parts = [
      ...splitByTable(state, { from, to: Math.min(to, hour), step: 'hour' }),
      { table: 'usageMinutes', from: Math.max(from, hour), to: Math.min(to, next) } as const,
      ...splitByTable(state, { from: Math.max(from, next), to, step: 'hour' }),
    ]
    return parts.filter((part) => part.from < part.to)
  }

  return async ({ keyId, rotatedAt, from, hours }) => {
    const to = from + hours * hourMs
    const rotated = floorTo(rotatedAt ?? 0, minuteMs)
    // The minute of the rotation has calls with either key, and counts for the old one.
    const firstWhole = rotated === (rotatedAt ?? 0) ? rotated : rotated + minuteMs
    const oldId = toOldKeyId(keyId)
    const [current, old] = [createActivitySum(hours), createActivitySum(hours)]
    for (const part of await split(from, to, rotated))
      for (const row of await readRows(db, part, [keyId, oldId])) {
        // Calls with the key before the rotation were calls with the old one. Earlier calls with an old key were calls with a key that no longer exists.
        if (row.keyId === oldId && row.at < rotated) continue
        const sum = row.keyId === oldId || row.at < firstWhole ? old : current
        addCounts(sum, Math.floor((row.at - from) / hourMs), row.counts)
      }
    current.lastAt = await findLast(keyId, firstWhole, to)
    old.lastAt = getLater(await findLast(oldId, rotated, to), await findLast(keyId, 0, firstWhole))
    return { current, old }
  }
}
