import type { Access } from './access.ts'
import { inTransaction } from './inTransaction.ts'
import { migrate } from './migration/migrate.ts'
import type { OpenDatabase } from './openDatabase.ts'
import { openPostgres } from './postgres/openPostgres.ts'
import { createRepositories } from './repositories.ts'
import type { Repositories } from './repositories.ts'
import type { Db } from './tables.ts'
import type { Step, Write, WriteNow } from './write.ts'
import { openSqlite } from './sqlite/openSqlite.ts'

/** Where things are stored: in a file of SQLite, or in PostgreSQL. */
export type StorageOptions = { readonly file: string } | { readonly databaseUrl: string }

/** All that the service remembers. */
export interface Storage extends Repositories {
  /** The database itself, for the counters of usage, which keep rows of their own. */
  readonly db: Db
  /** Writes for the same counters, beside all else. */
  readonly write: Write
  readonly writeNow: WriteNow
  /**
   * Finds all that the data plane asks about a key. Of SQLite it is a plain value, of PostgreSQL a promise.
   * @param hash - The key's SHA-256 in lower hex.
   * @throws {StorageError} where the database cannot be asked.
   */
  findAccess(hash: string): Access | undefined | Promise<Access | undefined>
  /** The same by the `kid` of one of an app's JWT keys. */
  findAccessByKid(kid: string): Access | undefined | Promise<Access | undefined>
  /**
   * Does several things at once or none of them. Inside, only what is given may be used: SQLite has one connection, and what waits for it
   * in here would wait for itself.
   * @param work - Given the repositories of the transaction. What it throws undoes all of it; a rejection that it returns does not.
   */
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>
  /** Writes something small, as quotas do. @throws {StorageError} if the database does not respond or does not take it. */
  ping(): Promise<void>
  /** Waits for what is in flight, then closes. */
  close(): Promise<void>
}

const openDatabase = (options: StorageOptions): Promise<OpenDatabase> => {
  const { file, databaseUrl }: { file?: unknown; databaseUrl?: unknown } = options
  if ((file === undefined) === (databaseUrl === undefined))
    throw new TypeError('storage must be given either a file or a databaseUrl')
  if (typeof databaseUrl === 'string') return openPostgres(databaseUrl)
  if (typeof file === 'string' && file !== '' && !file.startsWith(':memory:')) return openSqlite(file)
  throw new TypeError(
    file === undefined
      ? 'databaseUrl must be a text'
      : 'file must be the path of a file: there is no storage in memory',
  )
}

const step = (text: string): Step => ({ text, values: [] })
/**
 * A write to the one row that every database has, which leaves it as it was. SQLite writes nothing if a row stays the same, so there it changes
 * and changes back within the transaction; and it does not wait for the disk, as a write that has no room fails all the same.
 */
const pingSteps: Readonly<Record<Db['kind'], readonly Step[]>> = {
  sqlite: [step('update schema_version set version = -version'), step('update schema_version set version = -version')],
  postgres: [step('update schema_version set version = version')],
}

/**
 * Opens the storage and brings its tables up to date.
 * @param options - `{ file }`, made where it is not there, or `{ databaseUrl }`, which is a secret.
 * @throws {TypeError} if the options are wrong. {StorageError} if the database cannot be opened, or a newer program wrote it. None repeats
 * the URL.
 * @example
 * const storage = await openStorage({ file: '/var/lib/keyrail/keyrail.db' })
 */
export const openStorage = async (options: StorageOptions): Promise<Storage> => {
  const { db, write, writeNow, findAccess, findAccessByKid, close } = await openDatabase(options)
  try {
    await migrate(db)
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
      await write(pingSteps[db.kind], { light: db.kind === 'sqlite' })
    },
    close,
  }
}
