import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migrations } from '../storage/migration/migrations.ts'
import { toSqliteError } from '../storage/sqlite/sqliteError.ts'
import { asStorageConfigError } from './asStorageConfigError.ts'
import { ConfigError } from './configError.ts'

const wrong = (path: string, fix: string): ConfigError => new ConfigError([{ path, fix }])

const privateMode = 0o600
/** A writer may hold the file for a moment. */
const waitMs = 10_000

/** A file that is there for good only once its folder says so. */
const flushToDisk = (path: string): void => {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const copyInto = (source: DatabaseSync, copy: string, database: string): void => {
  try {
    source.prepare('vacuum into ?').run(copy)
  } catch (error) {
    throw asStorageConfigError(toSqliteError(error), { file: database })
  }
}

/**
 * Copies an SQLite database, as it is at one moment, into a new file. The service may run meanwhile.
 * @param database - The path of the database.
 * @param copy - The path of the copy, which must not be there yet. Only its owner can read it: it holds hashes of passwords and sealed keys.
 * @throws {ConfigError} if there is no such database, it cannot be read, or the copy is there.
 */
export const backUp = (database: string, copy: string): void => {
  if (!existsSync(database)) throw wrong('storage.file', 'names no file: there is nothing to back up')
  const path = resolve(copy)
  if (existsSync(path)) throw wrong('the copy', 'is there already: give another path')
  const beside = `${path}.${process.pid}.new`
  closeSync(openSync(beside, 'wx', privateMode))
  const source = new DatabaseSync(resolve(database), { timeout: waitMs })
  try {
    // Takes an empty file for a new database, and leaves its mode as it is.
    copyInto(source, beside, database)
    flushToDisk(beside)
    renameSync(beside, path)
    flushToDisk(dirname(path))
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  } finally {
    source.close()
  }
}

/** What a copy says of itself. */
const checkCopy = (copy: string): void => {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(copy, { readOnly: true })
    const found = database.prepare('pragma integrity_check').get() as { integrity_check?: string } | undefined
    if (found?.integrity_check !== 'ok') throw new Error('damaged')
    const { version } = database.prepare('select version from schema_version').get() as { version: number }
    if (version > (migrations.at(-1)?.version ?? 0))
      throw wrong('the copy', 'was written by a newer version of Keyrail')
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw wrong('the copy', 'is no whole database of Keyrail')
  } finally {
    database?.close()
  }
}

/** Whether some process has the database open. Only who is alone can take it out of WAL mode, which folds the log into the file besides. */
const isInUse = (database: string): boolean => {
  const alone = new DatabaseSync(database, { timeout: 0 })
  try {
    const mode = alone.prepare('pragma journal_mode = delete').get() as { journal_mode?: string } | undefined
    return mode?.journal_mode !== 'delete'
  } catch {
    return true
  } finally {
    alone.close()
  }
}

/**
 * Puts a copy in the place of an SQLite database. The one of before is kept beside it.
 * @param database - The path of the database; it need not be there.
 * @param copy - Made by `backUp`.
 * @param options.now - Milliseconds since 1970. @default Date.now()
 * @returns Where the database of before is now, if there was one.
 * @throws {ConfigError} where the copy is not whole or of a newer version, or a process has the database open. Nothing is changed then.
 */
export const restore = (
  database: string,
  copy: string,
  { now = Date.now() }: { now?: number } = {},
): string | undefined => {
  const path = resolve(database)
  const from = resolve(copy)
  if (!existsSync(from)) throw wrong('the copy', 'is not there')
  if (from === path) throw wrong('the copy', 'is the database itself')
  checkCopy(from)
  const isThere = existsSync(path)
  if (isThere && isInUse(path)) throw wrong('storage.file', 'is in use: stop the service first')
  const beside = `${path}.${process.pid}.new`
  copyFileSync(from, beside)
  chmodSync(beside, privateMode)
  flushToDisk(beside)
  let before: string | undefined
  if (isThere) {
    before = `${path}.before-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`
    renameSync(path, before)
  }
  // A log of the database of before must not be played into the new one.
  for (const rest of ['-wal', '-shm']) rmSync(`${path}${rest}`, { force: true })
  renameSync(beside, path)
  flushToDisk(dirname(path))
  return before
}
