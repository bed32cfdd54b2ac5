import { hashBytes } from './hashBytes.ts'
import { holdRows } from './holdRows.ts'
import { inTransaction } from './inTransaction.ts'
import { lockUser } from './lockUser.ts'
import type { Db } from './tables.ts'

/** Leave to set a new password, once. */
export interface OneTimeLink {
  readonly userId: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** The links that were not used, each under the SHA-256 (lower hex) of its token. */
export interface OneTimeLinks {
  /** Makes the one link of a user: one from before is gone. @returns The link, or `'notFound'` where there is no such user. */
  create(link: { hash: string; userId: string; expiresAt: number; now: number }): Promise<OneTimeLink | 'notFound'>
  /** Held until the transaction ends, so that nobody else can use it meanwhile. */
  find(hash: string): Promise<OneTimeLink | undefined>
  /** @returns Whether the user had a link. */
  remove(userId: string): Promise<boolean>
  /** Deletes up to `limit` that have ended. @returns How many. */
  prune(options: { now: number; limit: number }): Promise<number>
}

const columns = ['userId', 'createdAt', 'expiresAt'] as const

/** Makes the repository of one-time links. */
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
          .values({ sha256: hashBytes(hash), ...link })
          .execute()
        return link
      }),
    find: (hash) =>
      holdRows(
        db,
        query.selectFrom('oneTimeLinks').select(columns).where('sha256', '=', hashBytes(hash)),
      ).executeTakeFirst(),
    remove: async (userId) => {
      const { numDeletedRows } = await query.deleteFrom('oneTimeLinks').where('userId', '=', userId).executeTakeFirst()
      return numDeletedRows > 0n
    },
    prune: async ({ now, limit }) => {
      const { numDeletedRows } = await query
        .deleteFrom('oneTimeLinks')
        .where(
          'userId',
          'in',
          query.selectFrom('oneTimeLinks').select('userId').where('expiresAt', '<=', now).limit(limit),
        )
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
