import { StorageError } from '../../errors/storageError.ts'
import type { StorageFault } from '../../errors/storageError.ts'

const constraint = 19
const busy = 5
const locked = 6

/** Gets SQLite's extended result code of an error. */
export const getErrcode = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : undefined

/** Whether the file was locked by another process or connection. The failed statement has changed nothing. */
export const isSqliteBusy = (error: unknown): boolean => {
  const code = getErrcode(error)
  // The low byte is the primary result code.
  return code !== undefined && ((code & 0xff) === busy || (code & 0xff) === locked)
}

const getFault = (error: unknown): StorageFault => {
  if (isSqliteBusy(error)) return 'busy'
  const code = getErrcode(error)
  if (code !== undefined && (code & 0xff) === constraint) return 'conflict'
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_INVALID_STATE'
    ? 'unavailable'
    : 'failed'
}

const messages: Readonly<Record<StorageFault, string>> = {
  unavailable: 'the database is closed',
  busy: 'the database file was locked by another process for too long',
  conflict: 'the database rejected a row that violates a constraint',
  failed: 'the database failed',
}

/** Converts an error of SQLite. Its message is dropped, because it may contain values. */
export const toSqliteError = (error: unknown): StorageError => {
  if (error instanceof StorageError) return error
  const fault = getFault(error)
  const code = getErrcode(error)
  return new StorageError(messages[fault], { fault, code: code === undefined ? undefined : `SQLite ${code}` })
}
