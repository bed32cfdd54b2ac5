import type { Access } from './access.ts'
import { inTransaction } from './transaction.ts'
import { migrate } from './migration/migrate.ts'
import type { OpenDatabase, PoolState, Step, Write, WriteNow } from './database.ts'
import { openPostgres } from './postgres/openPostgres.ts'
import type { PostgresOptions } from './postgres/openPostgres.ts'
import { readPosition } from './changes.ts'
import { createRepositories } from './repositories.ts'
import type { Repositories } from './repositories.ts'
import type { Db } from './tables.ts'
import { openSqlite } from './sqlite/openSqlite.ts'

/** The database: an SQLite file, or PostgreSQL. */
export type StorageOptions = ({ readonly file: string } | { readonly databaseUrl: string }) & {
  readonly postgres?: PostgresOptions | undefined
}

/** The storage of the service. */
export interface Storage extends Repositories {
  /** The database, for the usage counters, which have their own rows. */
  readonly db: Db
  /** Writes for the usage counters, independent of the repositories. */
  readonly write: Write
  readonly writeNow: WriteNow
  /**
   * Finds everything that the proxy needs to know about a key. Returns a plain value with SQLite, a promise with PostgreSQL.
   * @param hash - The key's SHA-256 in lower-case hex.
   * @throws {StorageError} If the query fails.
   */
  findAccess(hash: string): Access | undefined | Promise<Access | undefined>
  /** Like `findAccess`, by the `kid` of one of an app's JWT keys. */
  findAccessByKid(kid: string): Access | undefined | Promise<Access | undefined>
  /**
   * Runs work in a transaction. The work must only use the repositories that it is given: SQLite has one connection, so using any other
   * would deadlock.
   * @param work - Gets the repositories of the transaction. If it throws, the transaction is rolled back. If it returns a rejection, it is not.
   */
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>
  /**
   * Does a small write, as quotas do, and reads the position of the change feed in the same transaction.
   * @returns The position of the last change: see `Changes`.
   * @throws {StorageError} If the database does not respond or rejects the write.
   */
  ping(): Promise<string>
  /**
   * Listens for signs that the database may be unavailable: a connection was lost, or a statement failed.
   * @param listener - May be called often. Not called with SQLite, which has no connections.
   */
  onProblem(listener: () => void): void
  /** The connections of PostgreSQL; `undefined` with SQLite. */
  readonly pool: (() => PoolState) | undefined
  /** Waits for work in flight, then closes. */
  close(): Promise<void>
}

const openDatabase = (options: StorageOptions): Promise<OpenDatabase> => {
  const { file, databaseUrl }: { file?: unknown; databaseUrl?: unknown } = options
  if ((file === undefined) === (databaseUrl === undefined))
    throw new TypeError('storage needs either a file or a databaseUrl')
  if (typeof databaseUrl === 'string') return openPostgres(databaseUrl, options.postgres)
  if (typeof file === 'string' && file !== '' && !file.startsWith(':memory:')) return openSqlite(file)
  throw new TypeError(
    file === undefined ? 'databaseUrl must be a string' : 'file must be a path: in-memory storage is not supported',
  )
}

const step = (text: string): Step => ({ text, values: [] })
/**
 * A write without a lasting change, and a read. They do not wait for the disk: a full disk fails them anyway. SQLite skips a write that changes
 * nothing, so there it is two statements. PostgreSQL writes a transaction that changes no row: versions of the one row would add up while a backup
 * runs, because all instances do this every few seconds.
 */
const pingSteps: Readonly<Record<Db['kind'], readonly Step[]>> = {
  sqlite: [
    step('update schema_version set version = -version'),
    step('update schema_version set version = -version'),
    step(readPosition),
  ],
  postgres: [
    step(`with written as (update schema_version set version = version where txid_current() is null) ${readPosition}`),
  ],
}

/**
 * Opens the storage and migrates its tables.
 * @param options - `{ file }`, which is created if it does not exist, or `{ databaseUrl }`, which is a secret.
 * @param settings.migrates - Whether the tables are migrated. Without that, only what its version has can be read. @default true
 * @throws {TypeError} If the options are invalid. {StorageError} If the database cannot be opened, or is from a newer version. No message
 * contains the URL.
 * @example
 * const storage = await openStorage({ file: '/var/lib/keyrail/keyrail.db' })
 */
export const openStorage = async (
  options: StorageOptions,
  { migrates = true }: { readonly migrates?: boolean } = {},
): Promise<Storage> => {
  const {
    db,
    write,
    writeNow,
    findAccess,
    findAccessByKid,
    pool,
    onProblem = () => {},
    close,
  } = await openDatabase(options)
  try {
    if (migrates) await migrate(db)
  } catch (error) {
    await close()
    throw error
  }
  return {
    db,
    write,
    writeNow,
    ...createRepositories(db),
    findAccess,
    findAccessByKid,
    transaction: (work) => inTransaction(db, (transaction) => work(createRepositories(transaction))),
    ping: async () => {
      const rows = await write(pingSteps[db.kind], { light: db.kind === 'sqlite' })
      return String(rows.at(-1)?.[0]?.['position'])
    },
    onProblem,
    pool,
    close,
  }
}
