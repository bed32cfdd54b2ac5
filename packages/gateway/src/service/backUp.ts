import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migrations } from '../storage/migration/migrations.ts'
import { formatCause } from '../errors/causes.ts'
import { StorageError } from '../errors/storageError.ts'
import { toSqliteError } from '../storage/sqlite/sqliteError.ts'
import { asStorageConfigError } from './asStorageConfigError.ts'
import { BackupError } from './backupError.ts'
import { ConfigError, getErrorCode } from './configError.ts'
import { createDatabaseFolder } from './databaseFolder.ts'

const privateMode = 0o600
/** How long to wait for a writer that has the file locked. */
const lockTimeoutMs = 10_000

/** A new file is durable only after its folder is flushed too. */
const flushToDisk = (path: string): void => {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Errors of SQLite that are about the file that it reads. All others of a copy are about the one that it writes. */
const sourceCodes: ReadonlySet<string | undefined> = new Set(['SQLite 5', 'SQLite 11', 'SQLite 26'])

const copyInto = (source: DatabaseSync, copy: string, database: string): void => {
  try {
    source.prepare('vacuum into ?').run(copy)
  } catch (error) {
    const failure = toSqliteError(error)
    throw sourceCodes.has(failure.code) ? asStorageConfigError(failure, { file: database }) : toCopyError(failure)
  }
}

/** The error for a file that cannot be written. */
const toFileError = (subject: string, error: unknown): unknown => {
  const code = error instanceof StorageError ? error.code : getErrorCode(error)
  const cause = code === undefined ? undefined : formatCause('sqlite', code)
  return cause === undefined ? error : new BackupError(`${subject} cannot be written: ${cause}`)
}
const toCopyError = (error: unknown): unknown => toFileError('the copy', error)

/**
 * Copies a snapshot of an SQLite database to a new file. The service may be running.
 * @param database - The path of the database.
 * @param copy - The path of the new file, which must not exist. Only its owner can read it: it contains password hashes and sealed keys.
 * @throws {ConfigError} if the database does not exist or cannot be read. {BackupError} if the copy exists or cannot be written.
 */
export const backUp = (database: string, copy: string): void => {
  if (!existsSync(database))
    throw new ConfigError([{ path: 'storage.file', fix: 'names a file that does not exist: check the path' }])
  const path = resolve(copy)
  if (existsSync(path)) throw new BackupError('the copy already exists: choose another path')
  const temporary = `${path}.${process.pid}.new`
  try {
    closeSync(openSync(temporary, 'wx', privateMode))
  } catch (error) {
    throw toCopyError(error)
  }
  const source = new DatabaseSync(resolve(database), { timeout: lockTimeoutMs })
  try {
    // VACUUM INTO accepts an empty file and keeps its mode.
    copyInto(source, temporary, database)
    flushToDisk(temporary)
    renameSync(temporary, path)
    flushToDisk(dirname(path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error instanceof BackupError || error instanceof ConfigError ? error : toCopyError(error)
  } finally {
    source.close()
  }
}

/** Checks that a copy is an undamaged Keyrail database of a known version. */
const checkCopy = (copy: string): void => {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(copy, { readOnly: true })
    const found = database.prepare('pragma integrity_check').get() as { integrity_check?: string } | undefined
    if (found?.integrity_check !== 'ok') throw new Error('damaged')
    const { version } = database.prepare('select version from schema_version').get() as { version: number }
    if (version > (migrations.at(-1)?.version ?? 0))
      throw new BackupError('the copy was written by a newer version of Keyrail: update Keyrail first')
  } catch (error) {
    if (error instanceof BackupError) throw error
    throw new BackupError('the copy is damaged or not a Keyrail database: use another copy')
  } finally {
    database?.close()
  }
}

/** Whether a process has the database open. Only a single connection can leave WAL mode, which also merges the log into the file. */
const isInUse = (database: string): boolean => {
  const connection = new DatabaseSync(database, { timeout: 0 })
  try {
    const mode = connection.prepare('pragma journal_mode = delete').get() as { journal_mode?: string } | undefined
    return mode?.journal_mode !== 'delete'
  } catch {
    return true
  } finally {
    connection.close()
  }
}

/**
 * Copies a database to a new file that only its owner can read: the owner of `ownedFile`. Only root can give it away, and only root creates files
 * that the service could not open. No link is followed: the service owns the folder, so as root this would write wherever the service wants.
 */
const copyPrivately = (from: string, to: string, ownedFile: string): void => {
  rmSync(to, { force: true })
  copyFileSync(from, to, constants.COPYFILE_EXCL)
  const handle = openSync(to, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    fchmodSync(handle, privateMode)
    const { uid, gid } = statSync(ownedFile)
    if (process.getuid?.() === 0) fchownSync(handle, uid, gid)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Replaces an SQLite database with a copy. The previous database is renamed and stays in the same folder.
 * The new one belongs to the same user as the previous one or, without one, as the folder.
 * @param database - The path of the database, which need not exist.
 * @param copy - The path of a copy that `backUp` created.
 * @param options.now - Milliseconds since 1970. @default Date.now()
 * @returns The new path of the previous database, if there was one.
 * @throws {BackupError} if the copy is damaged or from a newer version, or a process has the database open. Nothing changes then.
 */
export const restore = (
  database: string,
  copy: string,
  { now = Date.now() }: { now?: number } = {},
): string | undefined => {
  const path = resolve(database)
  const from = resolve(copy)
  if (!existsSync(from)) throw new BackupError('the copy does not exist: check the path')
  if (from === path) throw new BackupError('the copy is the database itself: choose another file')
  checkCopy(from)
  const exists = existsSync(path)
  if (exists && isInUse(path)) throw new BackupError('the database is in use: stop the service first')
  createDatabaseFolder(path)
  const temporary = `${path}.${process.pid}.new`
  try {
    copyPrivately(from, temporary, exists ? path : dirname(path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw toFileError('the database', error)
  }
  let before: string | undefined
  if (exists) {
    before = `${path}.before-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`
    renameSync(path, before)
  }
  // SQLite must not replay the previous database's log into the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  renameSync(temporary, path)
  flushToDisk(dirname(path))
  return before
}
