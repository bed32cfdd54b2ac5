import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { CamelCasePlugin, Kysely } from 'kysely'
import { toAccess } from '../access.ts'
import type { Access, AccessRow } from '../access.ts'
import { accessByHash, accessByKid } from '../accessSql.ts'
import { hashBytes } from '../hashBytes.ts'
import type { OpenDatabase } from '../openDatabase.ts'
import { StorageError } from '../storageError.ts'
import type { Tables } from '../tables.ts'
import { createSqliteDialect } from './createSqliteDialect.ts'
import { isSqliteBusy, sqliteError } from './sqliteError.ts'

const waitMs = 5_000
/** A reader of a WAL file waits for nobody, but while another process mends the file after a crash. */
const readerWaitMs = 100

/** Password hashes and sealed keys are nobody else's to read. SQLite gives its other two files the same mode. */
const createPrivately = (file: string): void => {
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    throw new StorageError('the database file cannot be opened or made', { fault: 'unavailable', code })
  }
}

const settings = [
  // Readers and the writer do not wait for each other.
  'pragma journal_mode = wal',
  // A revocation that was answered must survive a power cut as well.
  'pragma synchronous = full',
  'pragma foreign_keys = on',
]

const openWriter = async (file: string): Promise<DatabaseSync> => {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    for (const setting of settings) {
      const end = performance.now() + waitMs
      for (;;) {
        try {
          database.exec(setting)
          break
        } catch (error) {
          // Two processes that open a new file at once both turn it to WAL.
          if (!isSqliteBusy(error) || performance.now() > end) throw error
        }
        await wait(10)
      }
    }
    return database
  } catch (error) {
    database.close()
    throw sqliteError(error)
  }
}

/**
 * Opens an SQLite file, made where it is not there. Reads for the data plane go over a connection of their own, so that they never see what
 * a transaction has not committed, and never wait for one.
 * @param file - Its path.
 * @throws {StorageError}
 */
export const openSqlite = async (file: string): Promise<OpenDatabase> => {
  createPrivately(file)
  const writer = await openWriter(file)
  const dialect = createSqliteDialect(writer, { waitMs })
  const query = new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] })
  // The statements need tables that may not be there before the migration.
  let reader: DatabaseSync | undefined
  const prepare = (sql: string): ((value: string | Uint8Array) => Access | undefined) => {
    let statement: StatementSync | undefined
    return (value) => {
      try {
        reader ??= new DatabaseSync(file, { readOnly: true, timeout: readerWaitMs })
        statement ??= reader.prepare(sql)
        const row = statement.get(value) as AccessRow | undefined
        return row && toAccess(row)
      } catch (error) {
        throw sqliteError(error)
      }
    }
  }
  const findByHash = prepare(accessByHash('sqlite'))
  const findByKid = prepare(accessByKid('sqlite'))

  let closed: Promise<void> | undefined
  const whileOpen = (find: () => Access | undefined): Access | undefined => {
    if (closed !== undefined) throw new StorageError('the database is closed', { fault: 'unavailable' })
    return find()
  }

  return {
    db: { query, kind: 'sqlite' },
    findAccess: (hash) => whileOpen(() => findByHash(hashBytes(hash))),
    findAccessByKid: (kid) => whileOpen(() => findByKid(kid)),
    close: () => {
      if (closed === undefined) {
        reader?.close()
        closed = dialect.close()
      }
      return closed
    },
  }
}
