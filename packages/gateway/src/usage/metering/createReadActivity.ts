import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import type { KeyActivity, ReadActivity } from './activity.ts'
import { addCounts, createActivitySum, readRows } from './activityRows.ts'
import type { ActivitySum } from './activityRows.ts'
import { toOldKeyId } from '../../storage/toOldKeyId.ts'
import { splitByTable } from './usagePlan.ts'
import { readState } from './usageRows.ts'
import { hourMs } from '../../lib/time.ts'

/** Keys per query: few, because parsing their rows blocks the thread. */
const keysAtOnce = 5

/** Creates a reader of the activity of a user's keys. It costs a few queries, and reads the rows only of keys that were used in the period. */
export const createReadActivity = ({ storage: { db } }: { storage: Pick<Storage, 'db'> }): ReadActivity => {
  /** Finds the keys of a user, and their last rows: each is at the end of an index. */
  const findKeys = async (userId: string) => {
    const rows = await db.query
      .selectFrom('usageKeys')
      .select(['usageKeys.keyId', 'usageKeys.appId'])
      .select(({ selectFrom }) => [
        selectFrom('usageMinutes')
          .select(({ fn }) => fn.max('at').as('at'))
          .whereRef('usageMinutes.keyId', '=', 'usageKeys.keyId')
          .as('minute'),
        selectFrom('usageHours')
          .select(({ fn }) => fn.max('at').as('at'))
          .whereRef('usageHours.keyId', '=', 'usageKeys.keyId')
          .as('hour'),
        selectFrom('usageDays')
          .select(({ fn }) => fn.max('at').as('at'))
          .whereRef('usageDays.keyId', '=', 'usageKeys.keyId')
          .as('day'),
      ])
      .where('usageKeys.userId', '=', userId)
      .execute()
    return rows.map(({ keyId, appId, minute, hour, day }) => ({ keyId, appId, lastAt: minute ?? hour ?? day }))
  }

  return async ({ userId, from, hours }) => {
    const to = from + hours * hourMs
    const found = await findKeys(userId)
    const sums = new Map<string, ActivitySum & KeyActivity>()
    const byStoredId = new Map<string, ActivitySum>()
    for (const { keyId: storedId, appId, lastAt } of found) {
      const keyId = storedId.endsWith(toOldKeyId('')) ? storedId.slice(0, -toOldKeyId('').length) : storedId
      const sum = sums.get(keyId) ?? { ...createActivitySum(hours), keyId, appId }
      if (lastAt !== null) sum.lastAt = Math.max(lastAt, sum.lastAt ?? 0)
      sums.set(keyId, sum)
      byStoredId.set(storedId, sum)
    }
    const used = found.flatMap(({ keyId, lastAt }) => (lastAt !== null && lastAt >= from ? [keyId] : []))
    const parts = splitByTable(await readState(db), { from, to, step: 'hour' }).filter((part) => part.from < part.to)
    for (let start = 0; start < used.length; start += keysAtOnce)
      for (const part of parts) {
        for (const { keyId, at, counts } of await readRows(db, part, used.slice(start, start + keysAtOnce))) {
          const sum = byStoredId.get(keyId)
          if (sum !== undefined) addCounts(sum, Math.floor((at - from) / hourMs), counts)
        }
        await nextRound()
      }
    return [...sums.values()]
  }
}
