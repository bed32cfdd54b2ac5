import type { Selectable } from 'kysely'
import { createId } from './createId.ts'
import { fromRow, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { toHashBytes } from './columnValues.ts'
import { lockRows } from './transaction.ts'
import { inviteColumns } from './tables.ts'
import { changeRows } from './countRows.ts'
import type { Db, Tables } from './tables.ts'

/** Permission to sign up once. */
export type Invite = RecordOf<typeof inviteColumns>

/** The unused invites, stored by their SHA-256 (lower-case hex). */
export interface Invites {
  create(invite: {
    hash: string
    email: string | null
    createdBy: string
    expiresAt: number
    mailed?: boolean
    now: number
  }): Promise<Invite>
  /** Finds and locks an invite until the transaction ends, so that it cannot be used twice. */
  find(hash: string): Promise<Invite | undefined>
  /** Lists invites that expire after `now`, the newest first. */
  list(page: { now: number; limit: number }): Promise<readonly Invite[]>
  /** @returns Whether the invite existed. */
  remove(id: string): Promise<boolean>
  /** Deletes up to `limit` expired invites. @returns How many. */
  prune(options: { now: number; limit: number }): Promise<number>
}

const toInvite = (row: Selectable<Tables['invites']>): Invite => fromRow(inviteColumns, row)

/** Creates the repository of invites. */
export const createInvites = (db: Db): Invites => {
  const { query } = db
  return {
    create: async ({ hash, email, createdBy, expiresAt, mailed = false, now }) => {
      const row = await query
        .insertInto('invites')
        .values({
          ...toNewRow(inviteColumns, { id: createId('inv'), email, createdBy, createdAt: now, expiresAt, mailed }),
          sha256: toHashBytes(hash),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toInvite(row)
    },
    find: async (hash) => {
      const row = await lockRows(
        db,
        query.selectFrom('invites').selectAll().where('sha256', '=', toHashBytes(hash)),
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
    remove: async (id) => (await changeRows(query.deleteFrom('invites').where('id', '=', id))) > 0,
    prune: ({ now, limit }) => {
      const expired = query.selectFrom('invites').select('id').where('expiresAt', '<=', now).limit(limit)
      return changeRows(query.deleteFrom('invites').where('id', 'in', expired))
    },
  }
}
