import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { CamelCasePlugin, Kysely } from 'kysely'
import { toAccess } from '../access.ts'
import type { Access, AccessRow } from '../access.ts'
import { accessByHash, accessByKid } from '../accessSql.ts'
import { hashBytes } from '../hashBytes.ts'
import type { OpenDatabase } from '../openDatabase.ts'
import { StorageError } from '../../errors/storageError.ts'
import type { Tables } from '../tables.ts'
import { createQuickWriter } from './createQuickWriter.ts'
import { createSqliteDialect } from './createSqliteDialect.ts'
import { sqliteError } from './sqliteError.ts'
import { startWriter } from './startWriter.ts'
import { untilFree } from './untilFree.ts'

const waitMs = 5_000
/** A reader of a WAL file waits for nobody, but while another process fixes the file after a crash. */
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
  const database = await untilFree(() => new DatabaseSync(file, { timeout: 0 }), waitMs)
  try {
    // Two processes that open a new file at once both turn it to WAL.
    for (const setting of settings) await untilFree(() => database.exec(setting), waitMs)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Opens an SQLite file, made where it is not there. Reads for the data plane go over a connection of their own, so that they never see what
 * a transaction has not committed, and never wait for one.
 * @param path - Its path; never read as a URL.
 * @throws {StorageError}
 */
export const openSqlite = async (path: string): Promise<OpenDatabase> => {
  // Absolute, as SQLite would read `file:a.db` as a URL of another file, made readable by all, and the reader is opened later.
  const file = resolve(path)
  createPrivately(file)
  const writer = await openWriter(file)
  const dialect = createSqliteDialect(writer, { waitMs })
  const thread = startWriter(file, { waitMs })
  const quick = createQuickWriter(file)
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
    write: thread.write,
    writeNow: quick.write,
    findAccess: (hash) => whileOpen(() => findByHash(hashBytes(hash))),
    findAccessByKid: (kid) => whileOpen(() => findByKid(kid)),
    close: () => {
      if (closed === undefined) {
        reader?.close()
        quick.close()
        closed = thread.close().then(dialect.close)
      }
      return closed
    },
  }
}
