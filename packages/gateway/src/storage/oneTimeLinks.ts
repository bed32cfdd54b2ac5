import { listColumns } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { inTransaction, lockRows, lockUser } from './transaction.ts'
import { changeRows } from './countRows.ts'
import { oneTimeLinkColumns } from './tables.ts'
import type { Db } from './tables.ts'

/** Permission to set a new password once. */
export type OneTimeLink = RecordOf<typeof oneTimeLinkColumns>

/** The unused links, stored by the SHA-256 (lower-case hex) of their token. */
export interface OneTimeLinks {
  /** Creates a user's link and removes an earlier one. @returns The link, or `'notFound'` if there is no such user. */
  create(link: { hash: string; userId: string; expiresAt: number; now: number }): Promise<OneTimeLink | 'notFound'>
  /** Finds and locks a link until the transaction ends, so that it cannot be used twice. */
  find(hash: string): Promise<OneTimeLink | undefined>
  /** @returns Whether the user had a link. */
  remove(userId: string): Promise<boolean>
  /** Deletes up to `limit` expired links. @returns How many. */
  prune(options: { now: number; limit: number }): Promise<number>
}

const columns = listColumns(oneTimeLinkColumns)

/** Creates the repository of one-time links. */
export const createOneTimeLinks = (db: Db): OneTimeLinks => {
  const { query } = db
  return {
    create: ({ hash, userId, expiresAt, now }) =>
      inTransaction(db, async (transaction) => {
        if (!(await lockUser(transaction, userId))) return 'notFound'
        const link = { userId, createdAt: now, expiresAt }
        await transaction.query.deleteFrom('oneTimeLinks').where('userId', '=', userId).execute()
        await transaction.query
          .insertInto('oneTimeLinks')
          .values({ sha256: toHashBytes(hash), ...link })
          .execute()
        return link
      }),
    find: (hash) =>
      lockRows(
        db,
        query.selectFrom('oneTimeLinks').select(columns).where('sha256', '=', toHashBytes(hash)),
      ).executeTakeFirst(),
    remove: async (userId) => (await changeRows(query.deleteFrom('oneTimeLinks').where('userId', '=', userId))) > 0,
    prune: ({ now, limit }) => {
      const expired = query.selectFrom('oneTimeLinks').select('userId').where('expiresAt', '<=', now).limit(limit)
      return changeRows(query.deleteFrom('oneTimeLinks').where('userId', 'in', expired))
    },
  }
}
