import { CamelCasePlugin, Kysely } from 'kysely'
import { toAccess } from '../access.ts'
import type { Access, AccessRow } from '../access.ts'
import { accessByHash, accessByKid } from '../accessSql.ts'
import { hashBytes } from '../hashBytes.ts'
import type { OpenDatabase } from '../openDatabase.ts'
import { StorageError } from '../../errors/storageError.ts'
import type { Tables } from '../tables.ts'
import { createPostgresDialect } from './createPostgresDialect.ts'
import { postgresError } from './postgresError.ts'
import { writeSteps } from './writeSteps.ts'

const int8 = 20
const connectTimeoutMs = 5_000
const statementTimeoutMs = 15_000
const maxConnections = 10

const isPostgresUrl = (text: string): boolean =>
  URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol)

/**
 * Opens a PostgreSQL database.
 * @param databaseUrl - `postgres://user:password@host:port/database`. A secret.
 * @throws {TypeError} where it is no such URL; it is not repeated.
 */
export const openPostgres = async (databaseUrl: string): Promise<OpenDatabase> => {
  if (!isPostgresUrl(databaseUrl))
    throw new TypeError('databaseUrl must be a URL such as postgres://user:password@host:5432/keyrail')
  // Who keeps to SQLite does not pay for loading it.
  const { Pool, types } = await import('pg')
  const pool = new Pool({
    connectionString: databaseUrl,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + connectTimeoutMs,
    keepAlive: true,
    application_name: 'keyrail',
    // Times, versions and counts are all far below 2^53.
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === int8 ? Number : (types.getTypeParser(oid, format as 'text') as (text: string) => unknown),
    },
  })
  // A connection that is lost while nobody uses it is replaced by the next use, and must not end the process.
  pool.on('error', () => {})
  // Nor must one that is lost inside a transaction, where pg's pool does not listen: whoever holds it learns of it by the next query.
  pool.on('connect', (client) => client.on('error', () => {}))

  const query = new Kysely<Tables>({ dialect: createPostgresDialect(pool), plugins: [new CamelCasePlugin()] })
  let closed: Promise<void> | undefined

  const find = async (name: string, text: string, value: string | Uint8Array): Promise<Access | undefined> => {
    if (closed !== undefined) throw new StorageError('the database is closed', { fault: 'unavailable' })
    try {
      // A name makes it a prepared statement: read and planned once a connection.
      const { rows } = await pool.query<AccessRow>({ name, text, values: [value] })
      return rows[0] && toAccess(rows[0])
    } catch (error) {
      throw postgresError(error)
    }
  }
  const byHash = accessByHash('postgres')
  const byKid = accessByKid('postgres')

  return {
    db: { query, kind: 'postgres' },
    write: writeSteps({ query, kind: 'postgres' }),
    writeNow: () => undefined,
    findAccess: (hash) => find('keyrail-access-by-hash', byHash, hashBytes(hash)),
    findAccessByKid: (kid) => find('keyrail-access-by-kid', byKid, kid),
    close: () => (closed ??= pool.end()),
  }
}
