import { sql } from 'kysely'
import type { SelectQueryBuilder } from 'kysely'
import { isStorageError } from '../errors/storageError.ts'
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

/**
 * Runs a write whose row a concurrent transaction may take: between a check and the write, only a constraint of the database decides.
 * @param transaction - It stays usable after a conflict. PostgreSQL ends a transaction at the first error, except after a savepoint.
 * @returns The result of the write, or `'conflict'` if the row violates a constraint.
 */
export const unlessConflict = async <T>(transaction: Db, write: () => Promise<T>): Promise<T | 'conflict'> => {
  await sql`savepoint before_write`.execute(transaction.query)
  try {
    return await write()
  } catch (error) {
    if (!isStorageError(error, 'conflict')) throw error
    await sql`rollback to savepoint before_write`.execute(transaction.query)
    return 'conflict'
  }
}
