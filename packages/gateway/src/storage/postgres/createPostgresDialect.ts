import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { StorageError } from '../../errors/storageError.ts'

interface PostgresConnection extends DatabaseConnection {
  readonly client: PoolClient
  /** A connection in an unknown state must not be reused. */
  broken: boolean
}

/** Converts an error of pg. */
type ToError = (error: unknown) => StorageError

const createConnection = (client: PoolClient, toError: ToError): PostgresConnection => {
  const connection: PostgresConnection = {
    client,
    broken: false,
    executeQuery: async <R>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) => {
      try {
        const { command, rowCount, rows } = await client.query(sql, [...parameters])
        const result: QueryResult<R> = { rows: rows as R[] }
        return command === 'SELECT' ? result : { ...result, numAffectedRows: BigInt(rowCount ?? 0) }
      } catch (error) {
        const storageError = toError(error)
        // The connection is lost, or still busy with a query that timed out.
        if (storageError.fault === 'unavailable') connection.broken = true
        throw storageError
      }
    },
    streamQuery: () => {
      throw new Error('the storage does not support streaming queries')
    },
  }
  return connection
}

/**
 * Creates a Kysely dialect for a pool of pg. Its errors contain no values.
 * @param pool - Closed by the caller, or with Kysely.
 */
export const createPostgresDialect = (pool: Pool, toError: ToError): Dialect => {
  // The driver only gets connections that it created.
  const toOwn = (connection: DatabaseConnection): PostgresConnection => connection as PostgresConnection

  const command = async (connection: DatabaseConnection, sql: string): Promise<string> => {
    try {
      return (await toOwn(connection).client.query(sql)).command
    } catch (error) {
      toOwn(connection).broken = true
      throw toError(error)
    }
  }

  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: async () => {
      try {
        return createConnection(await pool.connect(), toError)
      } catch (error) {
        throw toError(error)
      }
    },
    beginTransaction: async (connection) => {
      await command(connection, 'begin')
    },
    commitTransaction: async (connection) => {
      // The server responds with ROLLBACK if a statement failed and the error was ignored.
      if ((await command(connection, 'commit')) === 'ROLLBACK')
        throw new StorageError('the transaction was rolled back because a statement in it failed', { fault: 'failed' })
    },
    rollbackTransaction: async (connection) => {
      await command(connection, 'rollback')
    },
    releaseConnection: (connection) => {
      toOwn(connection).client.release(toOwn(connection).broken)
      return Promise.resolve()
    },
    destroy: () => pool.end(),
  }

  return {
    createDriver: () => driver,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}
