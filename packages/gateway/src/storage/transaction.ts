import type { SelectQueryBuilder } from 'kysely'
import type { Db } from './tables.ts'

/**
 * Runs work in a transaction: the current one, or a new one.
 * @returns The result of the work, after the commit.
 * @throws The error of the work. The transaction is rolled back first.
 */
export const inTransaction = <T>(db: Db, work: (transaction: Db) => Promise<T>): Promise<T> =>
  db.query.isTransaction
    ? work(db)
    : db.query.transaction().execute((transaction) => work({ query: transaction, kind: db.kind }))

/**
 * Locks the rows that a query finds until the transaction ends (`select … for update`). SQLite needs no lock, because it has one writer at a
 * time.
 */
export const lockRows = <Database, Table extends keyof Database, Row>(
  { kind }: Db,
  query: SelectQueryBuilder<Database, Table, Row>,
): SelectQueryBuilder<Database, Table, Row> => (kind === 'postgres' ? query.forUpdate() : query)

/**
 * Locks a user's row until the transaction ends, so that counts of the user's apps and keys stay correct.
 * @returns Whether the user exists.
 */
export const lockUser = async (transaction: Db, userId: string): Promise<boolean> => {
  const user = transaction.query.selectFrom('users').select('id').where('id', '=', userId)
  return (await lockRows(transaction, user).executeTakeFirst()) !== undefined
}
