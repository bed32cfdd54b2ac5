import { changeRows } from './countRows.ts'
import type { Db } from './tables.ts'

/** A sealed secret, and the row and user that it is bound to. */
export interface SealedSecret {
  readonly id: string
  readonly userId: string
  readonly sealed: Uint8Array
}

/** The sealed secrets of a table, to seal them again. */
export interface SealedSecrets {
  /** Lists those of all users by id: up to `limit` after `after`. */
  listSealed(page: { after?: string; limit: number }): Promise<readonly SealedSecret[]>
  /** Replaces one. @returns Whether `from` was still stored. */
  replaceSealed(secret: { id: string; from: Uint8Array; to: Uint8Array }): Promise<boolean>
}

/** Creates the access to the sealed secrets of a table. */
export const createSealedSecrets = ({ query }: Db, table: 'keys' | 'webhooks' | 'factors'): SealedSecrets => ({
  listSealed: async ({ after = '', limit }) => {
    const rows = await query
      .selectFrom(table)
      .select(['id', 'userId', 'sealed'])
      .where('id', '>', after)
      .where('sealed', 'is not', null)
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.flatMap(({ id, userId, sealed }) => (sealed === null ? [] : [{ id, userId, sealed }]))
  },
  replaceSealed: async ({ id, from, to }) =>
    (await changeRows(query.updateTable(table).set({ sealed: to }).where('id', '=', id).where('sealed', '=', from))) >
    0,
})
