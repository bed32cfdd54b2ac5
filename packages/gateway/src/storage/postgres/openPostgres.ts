import { CamelCasePlugin, CompiledQuery, Kysely, sql } from 'kysely'
import { toAccess } from '../access.ts'
import type { Access, AccessRow } from '../access.ts'
import { getAccessByHashSql, getAccessByKidSql } from '../accessSql.ts'
import { toHashBytes } from '../columnValues.ts'
import type { OpenDatabase, StepRows, Write } from '../database.ts'
import { StorageError } from '../../errors/storageError.ts'
import type { Db, Tables } from '../tables.ts'
import { inTransaction } from '../transaction.ts'
import { createPostgresDialect } from './createPostgresDialect.ts'
import { toPostgresError } from './postgresError.ts'

const int8 = 20
const connectTimeoutMs = 5_000
const statementTimeoutMs = 15_000
const defaultMaxConnections = 10

const isPostgresUrl = (text: string): boolean =>
  URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol)

/** Runs statements in one transaction. A single statement needs no explicit transaction. */
const createWrite =
  (db: Db): Write =>
  (steps, { light = false } = {}) => {
    const run = async ({ query }: Db): Promise<readonly StepRows[]> => {
      const rows: StepRows[] = []
      for (const { text, values } of steps) {
        const result = await query
          .withoutPlugins()
          .executeQuery<Readonly<Record<string, unknown>>>(CompiledQuery.raw(text, [...values]))
        rows.push(result.rows)
      }
      return rows
    }
    if (steps.length === 1 && !light) return run(db)
    return inTransaction(db, async (transaction) => {
      if (light) await sql`set local synchronous_commit = off`.execute(transaction.query)
      return run(transaction)
    })
  }

/** Options of {@link openPostgres}. */
export interface PostgresOptions {
  /** The most connections of its pool. @default 10 */
  readonly maxConnections?: number | undefined
  /**
   * Whether the server is a pooler that gives each transaction another connection, as PgBouncer does with `pool_mode = transaction`. Then there are no
   * prepared statements, and no startup parameter that limits the time of statements: limit it with `alter role … set statement_timeout`.
   * @default false
   */
  readonly transactionPooler?: boolean | undefined
}

/**
 * Opens a PostgreSQL database.
 * @param databaseUrl - `postgres://user:password@host:port/database`. A secret.
 * @throws {TypeError} If it is not such a URL. The message does not contain it.
 */
export const openPostgres = async (
  databaseUrl: string,
  { maxConnections = defaultMaxConnections, transactionPooler = false }: PostgresOptions = {},
): Promise<OpenDatabase> => {
  if (!isPostgresUrl(databaseUrl))
    throw new TypeError('databaseUrl must be a URL such as postgres://user:password@host:5432/keyrail')
  // Imported lazily: deployments with SQLite do not need it.
  const { Pool, types } = await import('pg')
  const pool = new Pool({
    connectionString: databaseUrl,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(transactionPooler ? {} : { statement_timeout: statementTimeoutMs }),
    query_timeout: statementTimeoutMs + connectTimeoutMs,
    keepAlive: true,
    application_name: 'keyrail',
    // Times, versions and counts are far below 2^53.
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === int8 ? Number : (types.getTypeParser(oid, format as 'text') as (text: string) => unknown),
    },
  })
  const listeners: (() => void)[] = []
  const reportProblem = (): void => {
    for (const listener of listeners) listener()
  }
  const toError = (error: unknown): StorageError => {
    const storageError = toPostgresError(error)
    if (storageError.fault === 'unavailable' || storageError.fault === 'failed') reportProblem()
    return storageError
  }
  // A lost idle connection must not end the process. The pool replaces it.
  pool.on('error', reportProblem)
  // Nor must a connection that is lost in a transaction, where pg's pool does not listen: its next query fails.
  pool.on('connect', (client) => client.on('error', () => {}))

  const query = new Kysely<Tables>({ dialect: createPostgresDialect(pool, toError), plugins: [new CamelCasePlugin()] })
  let closed: Promise<void> | undefined

  const find = async (name: string, text: string, value: string | Uint8Array): Promise<Access | undefined> => {
    if (closed !== undefined) throw new StorageError('the database is closed', { fault: 'unavailable' })
    try {
      // A name makes it a prepared statement, which each connection parses and plans once.
      const prepared = transactionPooler ? {} : { name }
      const { rows } = await pool.query<AccessRow>({ ...prepared, text, values: [value] })
      return rows[0] && toAccess(rows[0])
    } catch (error) {
      throw toError(error)
    }
  }
  const byHash = getAccessByHashSql('postgres')
  const byKid = getAccessByKidSql('postgres')

  return {
    db: { query, kind: 'postgres' },
    write: createWrite({ query, kind: 'postgres' }),
    writeNow: () => undefined,
    findAccess: (hash) => find('keyrail-access-by-hash', byHash, toHashBytes(hash)),
    findAccessByKid: (kid) => find('keyrail-access-by-kid', byKid, kid),
    pool: () => ({
      active: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: maxConnections,
    }),
    onProblem: (listener) => void listeners.push(listener),
    close: () => (closed ??= pool.end()),
  }
}
