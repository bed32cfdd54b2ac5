import { holdRows } from './holdRows.ts'
import type { Db } from './tables.ts'

/**
 * Holds a user's row until the transaction ends, so that what is counted of the user stays as counted.
 * @returns Whether there is such a user.
 */
export const lockUser = async (transaction: Db, userId: string): Promise<boolean> => {
  const user = transaction.query.selectFrom('users').select('id').where('id', '=', userId)
  return (await holdRows(transaction, user).executeTakeFirst()) !== undefined
}
