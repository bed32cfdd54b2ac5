import type { Selectable } from 'kysely'
import { createId } from './createId.ts'
import { fromRow, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { inTransaction, lockUser } from './transaction.ts'
import { accessTokenColumns } from './tables.ts'
import { changeRows, countRows } from './countRows.ts'
import type { Db, Tables } from './tables.ts'

/** A personal access token, with which scripts use the control API. */
export type AccessToken = RecordOf<typeof accessTokenColumns>

/** The account of a token, and its user if that is a member of a team. */
export type TokenOwner = Pick<AccessToken, 'userId' | 'memberId'>

/** The personal access tokens, stored by their SHA-256 (lower-case hex). */
export interface AccessTokens {
  /**
   * @param token.memberId - The user, for a token of a team. @default the user of the account
   * @returns The token; `'notFound'` if there is no such account; `'tokensFull'` if the user has `max` tokens there, including expired ones.
   */
  create(token: {
    userId: string
    memberId?: string | null
    hash: string
    scopes: readonly string[]
    label: string
    expiresAt: number | null
    max?: number
    now: number
  }): Promise<AccessToken | 'notFound' | 'tokensFull'>
  find(hash: string): Promise<AccessToken | undefined>
  /** Lists the tokens of a user for an account, the oldest first. */
  list(owner: TokenOwner): Promise<readonly AccessToken[]>
  /** Records that it was used. */
  touch(id: string, now: number): Promise<void>
  /** @returns Whether the user had this token. */
  remove(token: TokenOwner & { id: string }): Promise<boolean>
  /** Removes all tokens of a user, those for teams included. @returns How many. */
  removeAll(userId: string): Promise<number>
}

const toToken = (row: Selectable<Tables['accessTokens']>): AccessToken => fromRow(accessTokenColumns, row)

/** Creates the repository of personal access tokens. */
export const createAccessTokens = (db: Db): AccessTokens => {
  const { query } = db
  return {
    create: ({ userId, memberId = null, hash, scopes, label, expiresAt, max = Infinity, now }) =>
      inTransaction(db, async (transaction) => {
        if (!(await lockUser(transaction, userId))) return 'notFound'
        const own = transaction.query
          .selectFrom('accessTokens')
          .where('userId', '=', userId)
          .where('memberId', 'is not distinct from', memberId)
        if ((await countRows(own)) >= max) return 'tokensFull'
        const row = await transaction.query
          .insertInto('accessTokens')
          .values({
            ...toNewRow(accessTokenColumns, {
              id: createId('tok'),
              userId,
              memberId,
              scopes,
              label,
              createdAt: now,
              expiresAt,
            }),
            sha256: toHashBytes(hash),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        return toToken(row)
      }),
    find: async (hash) => {
      const row = await query
        .selectFrom('accessTokens')
        .selectAll()
        .where('sha256', '=', toHashBytes(hash))
        .executeTakeFirst()
      return row && toToken(row)
    },
    list: async ({ userId, memberId }) => {
      const rows = await query
        .selectFrom('accessTokens')
        .selectAll()
        .where('userId', '=', userId)
        .where('memberId', 'is not distinct from', memberId)
        .orderBy('createdAt')
        .orderBy('id')
        .execute()
      return rows.map(toToken)
    },
    touch: async (id, now) => {
      await query.updateTable('accessTokens').set({ seenAt: now }).where('id', '=', id).execute()
    },
    remove: async ({ id, userId, memberId }) =>
      (await changeRows(
        query
          .deleteFrom('accessTokens')
          .where('id', '=', id)
          .where('userId', '=', userId)
          .where('memberId', 'is not distinct from', memberId),
      )) > 0,
    removeAll: (userId) =>
      changeRows(
        query
          .deleteFrom('accessTokens')
          .where((row) => row.or([row('userId', '=', userId), row('memberId', '=', userId)])),
      ),
  }
}
