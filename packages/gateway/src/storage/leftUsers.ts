import { countUsedApps, leavePlaces } from './apps.ts'
import type { Db } from './tables.ts'
import { changeRows } from './countRows.ts'
import { startOfUtcDay } from '../lib/utcDay.ts'

/** Users who deleted their accounts today. Signing up again must not give a second daily quota. */
export interface LeftUsers {
  /**
   * Stores what a user used today. Call this in the transaction that deletes the user.
   * @param left.emailHash - The keyed hash of the email address.
   */
  add(left: { emailHash: Uint8Array; user: { id: string; quotaOwner: string }; now: number }): Promise<void>
  /**
   * Gives a new user what the deleted user with the same email address has left today: the same quota counter, and as many fewer apps. Call
   * this in the transaction that creates the user.
   * @param left.emailHashes - The email address, hashed with each secret in use.
   */
  restore(left: { emailHashes: readonly Uint8Array[]; userId: string; now: number }): Promise<void>
  /** Deletes up to `limit` rows of past days. @returns How many. */
  prune(options: { now: number; limit: number }): Promise<number>
}

/** Creates the repository of users who left. */
export const createLeftUsers = (db: Db): LeftUsers => {
  const { query } = db
  return {
    add: async ({ emailHash, user, now }) => {
      const apps = await countUsedApps(db, { userIds: [user.id], now })
      const left = { quotaOwner: user.quotaOwner, apps, leftAt: now }
      await query
        .insertInto('leftUsers')
        .values({ emailHash, ...left })
        .onConflict((conflict) => conflict.column('emailHash').doUpdateSet(left))
        .execute()
    },
    restore: async ({ emailHashes, userId, now }) => {
      if (emailHashes.length === 0) return
      const rows = await query
        .deleteFrom('leftUsers')
        .where('emailHash', 'in', emailHashes)
        .returning(['quotaOwner', 'apps', 'leftAt'])
        .execute()
      const [left] = rows
        .filter(({ leftAt }) => leftAt >= startOfUtcDay(now))
        .toSorted((one, other) => other.leftAt - one.leftAt)
      if (left === undefined) return
      await query.updateTable('users').set({ quotaOwner: left.quotaOwner }).where('id', '=', userId).execute()
      await leavePlaces(db, { count: left.apps, userId, now: left.leftAt })
    },
    prune: async ({ now, limit }) => {
      const old = query
        .selectFrom('leftUsers')
        .select('emailHash')
        .where('leftAt', '<', startOfUtcDay(now))
        .limit(limit)
      return changeRows(query.deleteFrom('leftUsers').where('emailHash', 'in', old))
    },
  }
}
