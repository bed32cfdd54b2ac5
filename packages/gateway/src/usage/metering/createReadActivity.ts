import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import type { KeyActivity, ReadActivity } from './activity.ts'
import { connectionMethod, notificationMethod } from './meter.ts'
import { unpackCounts } from './usageCounts.ts'
import { splitByTable } from './usagePlan.ts'
import type { PeriodPart } from './usagePlan.ts'
import { readState } from './usageRows.ts'
import { hourMs } from './usageTime.ts'

/** Keys per query: few, because parsing their rows blocks the thread. */
const keysAtOnce = 10

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

  const readRows = ({ table, from, to }: PeriodPart, keyIds: readonly string[]) =>
    db.query
      .selectFrom(table)
      .select(['keyId', 'at', 'counts'])
      .where('keyId', 'in', keyIds)
      .where('at', '>=', from)
      .where('at', '<', to)
      .execute()

  return async ({ userId, from, hours }) => {
    const to = from + hours * hourMs
    const zeros = (): number[] => Array.from({ length: hours }, () => 0)
    const found = await findKeys(userId)
    const byKey = new Map(found.map((key) => [key.keyId, { ...key, totals: zeros(), failures: zeros() }]))
    const used = found.flatMap(({ keyId, lastAt }) => (lastAt !== null && lastAt >= from ? [keyId] : []))
    const parts = splitByTable(await readState(db), { from, to, step: 'hour' }).filter((part) => part.from < part.to)
    for (let start = 0; start < used.length; start += keysAtOnce)
      for (const part of parts) {
        for (const { keyId, at, counts } of await readRows(part, used.slice(start, start + keysAtOnce))) {
          const { totals, failures } = byKey.get(keyId) ?? { totals: [], failures: [] }
          const hour = Math.floor((at - from) / hourMs)
          for (const [method, , outcome, total] of unpackCounts(counts) ?? []) {
            const succeeded = outcome === 'succeeded'
            if (succeeded && (method === connectionMethod || method === notificationMethod)) continue
            totals[hour] = (totals[hour] ?? 0) + total
            if (!succeeded) failures[hour] = (failures[hour] ?? 0) + total
          }
        }
        await nextRound()
      }
    return [...byKey.values()] satisfies readonly KeyActivity[]
  }
}
