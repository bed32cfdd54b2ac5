import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { CamelCasePlugin, Kysely } from 'kysely'
import { toAccess } from '../access.ts'
import type { Access, AccessRow } from '../access.ts'
import { getAccessByHashSql, getAccessByKidSql } from '../accessSql.ts'
import { toHashBytes } from '../columnValues.ts'
import type { OpenDatabase } from '../database.ts'
import { StorageError } from '../../errors/storageError.ts'
import type { Tables } from '../tables.ts'
import { createQuickWriter } from './createQuickWriter.ts'
import { createSqliteDialect } from './createSqliteDialect.ts'
import { toSqliteError } from './sqliteError.ts'
import { startWriter } from './startWriter.ts'
import { retryWhileBusy } from './retryWhileBusy.ts'

const waitMs = 5_000
/** A reader of a WAL file only waits while another process recovers the file after a crash. */
const readerWaitMs = 100

/** Only the owner may read password hashes and sealed keys. SQLite gives its other two files the same mode. */
const createPrivately = (file: string): void => {
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    throw new StorageError('the database file cannot be opened or created', { fault: 'unavailable', code })
  }
}

const settings = [
  // Readers and the writer do not block each other.
  'pragma journal_mode = wal',
  // A confirmed revocation must survive a power cut.
  'pragma synchronous = full',
  'pragma foreign_keys = on',
]

const openWriter = async (file: string): Promise<DatabaseSync> => {
  const database = await retryWhileBusy(() => new DatabaseSync(file, { timeout: 0 }), waitMs)
  try {
    // Two processes may open a new file at the same time and both switch it to WAL.
    for (const setting of settings) await retryWhileBusy(() => database.exec(setting), waitMs)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Opens an SQLite file, and creates it if it does not exist. The proxy reads over a separate connection, so that it never sees uncommitted data
 * and never waits for a transaction.
 * @param path - A path, never parsed as a URL.
 * @throws {StorageError}
 */
export const openSqlite = async (path: string): Promise<OpenDatabase> => {
  // Absolute, because SQLite would parse `file:a.db` as the URL of another file, and the reader is opened later.
  const file = resolve(path)
  createPrivately(file)
  const writer = await openWriter(file)
  const dialect = createSqliteDialect(writer, { waitMs })
  const thread = startWriter(file, { waitMs })
  const quick = createQuickWriter(file)
  const query = new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] })
  // Prepared lazily: before the migration, the tables may not exist.
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
        throw toSqliteError(error)
      }
    }
  }
  const findByHash = prepare(getAccessByHashSql('sqlite'))
  const findByKid = prepare(getAccessByKidSql('sqlite'))

  let closed: Promise<void> | undefined
  const whileOpen = (find: () => Access | undefined): Access | undefined => {
    if (closed !== undefined) throw new StorageError('the database is closed', { fault: 'unavailable' })
    return find()
  }

  return {
    db: { query, kind: 'sqlite' },
    write: thread.write,
    writeNow: quick.write,
    findAccess: (hash) => whileOpen(() => findByHash(toHashBytes(hash))),
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
