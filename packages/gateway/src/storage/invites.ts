import type { Selectable } from 'kysely'
import { createId } from './createId.ts'
import { hashBytes } from './hashBytes.ts'
import { holdRows } from './holdRows.ts'
import type { Db, Tables } from './tables.ts'

/** Leave to sign up, once. */
export interface Invite {
  readonly id: string
  /** The only email address that it is for; `null`: any. */
  readonly email: string | null
  /** Who made it: a user's id, or such as `operator`. */
  readonly createdBy: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** The invites that were not used, each found by the SHA-256 (lower hex) of its text. */
export interface Invites {
  create(invite: {
    hash: string
    email: string | null
    createdBy: string
    expiresAt: number
    now: number
  }): Promise<Invite>
  /** Held until the transaction ends, so that nobody else can use it meanwhile. */
  find(hash: string): Promise<Invite | undefined>
  /** Those that end after `now`, the newest first. */
  list(page: { now: number; limit: number }): Promise<readonly Invite[]>
  /** @returns Whether there was such an invite. */
  remove(id: string): Promise<boolean>
  /** Deletes up to `limit` that have ended. @returns How many. */
  prune(options: { now: number; limit: number }): Promise<number>
}

const toInvite = ({ id, email, createdBy, createdAt, expiresAt }: Selectable<Tables['invites']>): Invite => ({
  id,
  email,
  createdBy,
  createdAt,
  expiresAt,
})

/** Makes the repository of invites. */
export const createInvites = (db: Db): Invites => {
  const { query } = db
  return {
    create: async ({ hash, email, createdBy, expiresAt, now }) => {
      const row = await query
        .insertInto('invites')
        .values({ id: createId('inv'), sha256: hashBytes(hash), email, createdBy, createdAt: now, expiresAt })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toInvite(row)
    },
    find: async (hash) => {
      const row = await holdRows(
        db,
        query.selectFrom('invites').selectAll().where('sha256', '=', hashBytes(hash)),
      ).executeTakeFirst()
      return row && toInvite(row)
    },
    list: async ({ now, limit }) => {
      const rows = await query
        .selectFrom('invites')
        .selectAll()
        .where('expiresAt', '>', now)
        .orderBy('createdAt', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(toInvite)
    },
    remove: async (id) => {
      const { numDeletedRows } = await query.deleteFrom('invites').where('id', '=', id).executeTakeFirst()
      return numDeletedRows > 0n
    },
    prune: async ({ now, limit }) => {
      const { numDeletedRows } = await query
        .deleteFrom('invites')
        .where('id', 'in', query.selectFrom('invites').select('id').where('expiresAt', '<=', now).limit(limit))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
