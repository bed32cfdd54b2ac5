import type { Db } from './tables.ts'

/**
 * Holds a user's row until the transaction ends, so that what is counted of the user stays as counted.
 * SQLite has one writer at a time, so there it is enough to look.
 * @returns Whether there is such a user.
 */
export const lockUser = async (transaction: Db, userId: string): Promise<boolean> => {
  const user = transaction.query.selectFrom('users').select('id').where('id', '=', userId)
  return (await (transaction.kind === 'postgres' ? user.forUpdate() : user).executeTakeFirst()) !== undefined
}
