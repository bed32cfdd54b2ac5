import type { Selectable } from 'kysely'
import { createId } from './createId.ts'
import { hashBytes } from './hashBytes.ts'
import type { Db, Tables } from './tables.ts'

/** A personal access token, by which scripts use the control API. */
export interface AccessToken {
  readonly id: string
  readonly userId: string
  readonly scopes: readonly string[]
  readonly label: string
  readonly createdAt: number
  readonly seenAt: number | null
  readonly expiresAt: number | null
}

/** The personal access tokens, each found by the SHA-256 (lower hex) of its text. */
export interface AccessTokens {
  /** @returns The token, or `'notFound'` where there is no such user. */
  create(token: {
    userId: string
    hash: string
    scopes: readonly string[]
    label: string
    expiresAt: number | null
    now: number
  }): Promise<AccessToken | 'notFound'>
  find(hash: string): Promise<AccessToken | undefined>
  /** The oldest first. */
  list(userId: string): Promise<readonly AccessToken[]>
  /** Notes its use. */
  touch(id: string, now: number): Promise<void>
  /** @returns Whether the user had such a token. */
  remove(token: { id: string; userId: string }): Promise<boolean>
}

const toToken = ({
  id,
  userId,
  scopes,
  label,
  createdAt,
  seenAt,
  expiresAt,
}: Selectable<Tables['accessTokens']>): AccessToken => ({
  id,
  userId,
  scopes: JSON.parse(scopes) as string[],
  label,
  createdAt,
  seenAt,
  expiresAt,
})

/** Makes the repository of personal access tokens. */
export const createAccessTokens = ({ query }: Db): AccessTokens => ({
  create: async ({ userId, hash, scopes, label, expiresAt, now }) => {
    const user = await query.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst()
    if (user === undefined) return 'notFound'
    const row = await query
      .insertInto('accessTokens')
      .values({
        id: createId('tok'),
        userId,
        sha256: hashBytes(hash),
        scopes: JSON.stringify(scopes),
        label,
        createdAt: now,
        seenAt: null,
        expiresAt,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toToken(row)
  },
  find: async (hash) => {
    const row = await query
      .selectFrom('accessTokens')
      .selectAll()
      .where('sha256', '=', hashBytes(hash))
      .executeTakeFirst()
    return row && toToken(row)
  },
  list: async (userId) => {
    const rows = await query
      .selectFrom('accessTokens')
      .selectAll()
      .where('userId', '=', userId)
      .orderBy('createdAt')
      .orderBy('id')
      .execute()
    return rows.map(toToken)
  },
  touch: async (id, now) => {
    await query.updateTable('accessTokens').set({ seenAt: now }).where('id', '=', id).execute()
  },
  remove: async ({ id, userId }) => {
    const { numDeletedRows } = await query
      .deleteFrom('accessTokens')
      .where('id', '=', id)
      .where('userId', '=', userId)
      .executeTakeFirst()
    return numDeletedRows > 0n
  },
})
