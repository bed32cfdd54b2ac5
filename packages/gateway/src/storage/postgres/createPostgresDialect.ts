import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { StorageError } from '../../errors/storageError.ts'
import { postgresError } from './postgresError.ts'

interface PostgresConnection extends DatabaseConnection {
  readonly client: PoolClient
  /** A connection in an unknown state is not given to the next one. */
  broken: boolean
}

const createConnection = (client: PoolClient): PostgresConnection => {
  const connection: PostgresConnection = {
    client,
    broken: false,
    executeQuery: async <R>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) => {
      try {
        const { command, rowCount, rows } = await client.query(sql, [...parameters])
        const result: QueryResult<R> = { rows: rows as R[] }
        return command === 'SELECT' ? result : { ...result, numAffectedRows: BigInt(rowCount ?? 0) }
      } catch (error) {
        const told = postgresError(error)
        // Lost, or still at work on what was waited for too long.
        if (told.fault === 'unavailable') connection.broken = true
        throw told
      }
    },
    streamQuery: () => {
      throw new Error('queries of the storage are not streamed')
    },
  }
  return connection
}

/**
 * Kysely on a pool of pg, whose errors tell no values.
 * @param pool - Closed by who made it, or with Kysely.
 */
export const createPostgresDialect = (pool: Pool): Dialect => {
  // Every connection that the driver is given is one that it made.
  const own = (connection: DatabaseConnection): PostgresConnection => connection as PostgresConnection

  const command = async (connection: DatabaseConnection, sql: string): Promise<string> => {
    try {
      return (await own(connection).client.query(sql)).command
    } catch (error) {
      own(connection).broken = true
      throw postgresError(error)
    }
  }

  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: async () => {
      try {
        return createConnection(await pool.connect())
      } catch (error) {
        throw postgresError(error)
      }
    },
    beginTransaction: async (connection) => {
      await command(connection, 'begin')
    },
    commitTransaction: async (connection) => {
      // The server answers so to a commit after an error that nobody heeded.
      if ((await command(connection, 'commit')) === 'ROLLBACK')
        throw new StorageError('the transaction was rolled back, as a statement in it had failed', { fault: 'failed' })
    },
    rollbackTransaction: async (connection) => {
      await command(connection, 'rollback')
    },
    releaseConnection: (connection) => {
      own(connection).client.release(own(connection).broken)
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
