import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import { createMutex } from './createMutex.ts'
import { createPreparer } from './createPreparer.ts'
import { retryWhileBusy } from './retryWhileBusy.ts'

const maxPrepared = 500

/**
 * Creates a Kysely dialect for one connection of node:sqlite. Transactions take the write lock at the start, so that none fails halfway.
 * @param database - Opened without a busy timeout.
 * @param options.waitMs - How long to wait for the connection, and for another process that writes, in milliseconds.
 * @returns The dialect, and `close`, which waits for work in flight and closes the database. Later queries are rejected with a
 * `StorageError`, unlike with Kysely's own dialect.
 */
export const createSqliteDialect = (
  database: DatabaseSync,
  { waitMs }: { waitMs: number },
): Dialect & { close(): Promise<void> } => {
  const mutex = createMutex({ waitMs, sliceMs: 5 })
  const prepare = createPreparer(database, maxPrepared)

  const run = <R>(sql: string, parameters: readonly unknown[]): QueryResult<R> => {
    const { statement, hasRows } = prepare(sql)
    const values = parameters as SQLInputValue[]
    if (hasRows) return { rows: statement.all(...values) as R[] }
    const { changes } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  const close = async (): Promise<void> => {
    await mutex.close()
    database.close()
  }

  const connection: DatabaseConnection = {
    executeQuery: <R>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      // A transaction already has the lock, and a statement in it must not be retried alone.
      retryWhileBusy(() => run<R>(sql, parameters), database.isTransaction ? 0 : waitMs),
    streamQuery: () => {
      throw new Error('the storage does not support streaming queries')
    },
  }

  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: async () => {
      await mutex.acquire()
      return connection
    },
    beginTransaction: () => retryWhileBusy(() => database.exec('begin immediate'), waitMs),
    commitTransaction: () => retryWhileBusy(() => database.exec('commit'), waitMs),
    rollbackTransaction: async () => {
      // Some failures roll back by themselves.
      if (database.isTransaction) await retryWhileBusy(() => database.exec('rollback'), 0)
    },
    releaseConnection: () => {
      mutex.release()
      return Promise.resolve()
    },
    destroy: close,
  }

  return {
    close,
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    // "Multiple connections", because the mutex above replaces Kysely's, which has no timeout.
    createAdapter: () => ({
      supportsReturning: true,
      supportsTransactionalDdl: true,
      supportsMultipleConnections: true,
      acquireMigrationLock: () => Promise.resolve(),
      releaseMigrationLock: () => Promise.resolve(),
    }),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}
