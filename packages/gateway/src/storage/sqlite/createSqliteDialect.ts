import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import { createTurns } from './createTurns.ts'
import { untilFree } from './untilFree.ts'

/** A statement read and planned once. */
interface Prepared {
  readonly statement: StatementSync
  readonly hasRows: boolean
}

const maxPrepared = 500

const createPreparer = (database: DatabaseSync): ((sql: string) => Prepared) => {
  const bySql = new Map<string, Prepared>()
  return (sql) => {
    const known = bySql.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    const prepared = { statement, hasRows: statement.columns().length > 0 }
    // Statements with lists of many lengths must not add up for ever.
    if (bySql.size >= maxPrepared) bySql.clear()
    bySql.set(sql, prepared)
    return prepared
  }
}

/**
 * Kysely on one connection of node:sqlite. Transactions take the write lock at once, so that none fails half way.
 * @param database - Opened without a busy timeout.
 * @param options.waitMs - How long to wait for the connection, and for another process that writes, in milliseconds.
 * @returns The dialect, and `close`, which waits for what is in flight and closes the database. Unlike Kysely's own, what comes later is then
 * rejected as a `StorageError`.
 */
export const createSqliteDialect = (
  database: DatabaseSync,
  { waitMs }: { waitMs: number },
): Dialect & { close(): Promise<void> } => {
  const turns = createTurns({ waitMs, sliceMs: 5 })
  const prepare = createPreparer(database)

  const run = <R>(sql: string, parameters: readonly unknown[]): QueryResult<R> => {
    const { statement, hasRows } = prepare(sql)
    const values = parameters as SQLInputValue[]
    if (hasRows) return { rows: statement.all(...values) as R[] }
    const { changes } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  const close = async (): Promise<void> => {
    await turns.close()
    database.close()
  }

  const connection: DatabaseConnection = {
    executeQuery: <R>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      // Inside a transaction the lock is held already, and what fails there must not be tried again alone.
      untilFree(() => run<R>(sql, parameters), database.isTransaction ? 0 : waitMs),
    streamQuery: () => {
      throw new Error('queries of the storage are not streamed')
    },
  }

  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: async () => {
      await turns.take()
      return connection
    },
    beginTransaction: () => untilFree(() => database.exec('begin immediate'), waitMs),
    commitTransaction: () => untilFree(() => database.exec('commit'), waitMs),
    rollbackTransaction: async () => {
      // Some failures have rolled back already.
      if (database.isTransaction) await untilFree(() => database.exec('rollback'), 0)
    },
    releaseConnection: () => {
      turns.give()
      return Promise.resolve()
    },
    destroy: close,
  }

  return {
    close,
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    // "Multiple connections", as the turns above do what Kysely would do else, and have an end.
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
