import { fromRow, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { savedFilterColumns } from './tables.ts'
import type { Db } from './tables.ts'

/** A filter of a request log that a user has given a name. */
export type SavedFilter = RecordOf<typeof savedFilterColumns>['items'][number]

/** The saved filters of users: each has a list for each log. */
export interface SavedFilters {
  /** In the order of the user. */
  list(log: { keyId: string; userId: string }): Promise<readonly SavedFilter[]>
  /** Replaces the list. */
  set(log: { keyId: string; userId: string; items: readonly SavedFilter[] }): Promise<void>
}

/** Creates the repository of saved filters. */
export const createSavedFilters = ({ query }: Db): SavedFilters => ({
  list: async ({ keyId, userId }) => {
    const own = query.selectFrom('savedFilters').selectAll().where('keyId', '=', keyId).where('userId', '=', userId)
    const row = await own.executeTakeFirst()
    return row === undefined ? [] : fromRow(savedFilterColumns, row).items
  },
  set: async (log) => {
    const row = toNewRow(savedFilterColumns, log)
    await query
      .insertInto('savedFilters')
      .values(row)
      .onConflict((conflict) => conflict.columns(['keyId', 'userId']).doUpdateSet({ items: row.items }))
      .execute()
  },
})
