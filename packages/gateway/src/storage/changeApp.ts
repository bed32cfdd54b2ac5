import type { Selectable } from 'kysely'
import { recordChange } from './changes.ts'
import { inTransaction, lockRows } from './transaction.ts'
import type { Db, Tables } from './tables.ts'

/**
 * Changes an app in one transaction: locks the app's row, does the work, increases the version and records the change.
 * @param options.work - Gets the app's row with its new version. If it returns a string, that is a rejection: the version stays.
 * @returns What the work returned, or `'notFound'` if the user has no such app.
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
    const app = await lockRows(transaction, found).executeTakeFirst()
    if (app === undefined) return 'notFound'
    const version = app.version + 1
    const result = await work({ ...app, version }, transaction)
    if (typeof result === 'string') return result
    await transaction.query.updateTable('apps').set({ version }).where('id', '=', id).execute()
    await recordChange(transaction, { kind: 'app', id })
    return result
  })
