import type { Db } from './tables.ts'

/**
 * Runs work in a transaction: the one that is in flight, or one of its own.
 * @returns What the work resolved to, once committed.
 * @throws What the work threw; then nothing of it was written.
 */
export const inTransaction = <T>(db: Db, work: (transaction: Db) => Promise<T>): Promise<T> =>
  db.query.isTransaction
    ? work(db)
    : db.query.transaction().execute((transaction) => work({ query: transaction, kind: db.kind }))
