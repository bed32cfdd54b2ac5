import type { Selectable } from 'kysely'
import { recordChange } from './changes.ts'
import { holdRows } from './holdRows.ts'
import { inTransaction } from './inTransaction.ts'
import type { Db, Tables } from './tables.ts'

/**
 * Changes something of an app: holds the app's row, moves its version, does the work and tells of it, all in one transaction.
 * @param options.work - Given the app's row with its new version. What it returns as text is a rejection, and then nothing changes.
 * @returns What the work returned, or `'notFound'` where the user has no such app.
 */
export const changeApp = <T>(
  db: Db,
  {
    id,
    userId,
    work,
  }: { id: string; userId: string; work: (app: Selectable<Tables['apps']>, transaction: Db) => Promise<T> },
): Promise<T | 'notFound'> =>
  inTransaction(db, async (transaction) => {
    const found = transaction.query.selectFrom('apps').selectAll().where('id', '=', id).where('userId', '=', userId)
    const app = await holdRows(transaction, found).executeTakeFirst()
    if (app === undefined) return 'notFound'
    const version = app.version + 1
    const result = await work({ ...app, version }, transaction)
    if (typeof result === 'string') return result
    await transaction.query.updateTable('apps').set({ version }).where('id', '=', id).execute()
    await recordChange(transaction, { kind: 'app', id })
    return result
  })
