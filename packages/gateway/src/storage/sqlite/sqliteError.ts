import { StorageError } from '../../errors/storageError.ts'
import type { StorageFault } from '../../errors/storageError.ts'

const constraint = 19
const busy = 5
const locked = 6

const codeOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : undefined

/** Whether another process, or another connection of this one, held the file. What failed so has changed nothing. */
export const isSqliteBusy = (error: unknown): boolean => {
  const code = codeOf(error)
  // The low byte is the code, the rest says which sort.
  return code !== undefined && ((code & 0xff) === busy || (code & 0xff) === locked)
}

const faultOf = (error: unknown): StorageFault => {
  if (isSqliteBusy(error)) return 'busy'
  const code = codeOf(error)
  if (code !== undefined && (code & 0xff) === constraint) return 'conflict'
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_INVALID_STATE'
    ? 'unavailable'
    : 'failed'
}

const messages: Readonly<Record<StorageFault, string>> = {
  unavailable: 'the database is closed',
  busy: 'the database file was held by another process for too long',
  conflict: 'the database rejected a row that breaks one of its rules',
  failed: 'the database failed',
}

/** What may be told of an error of SQLite: its text can hold values. */
export const sqliteError = (error: unknown): StorageError => {
  if (error instanceof StorageError) return error
  const fault = faultOf(error)
  const code = codeOf(error)
  return new StorageError(messages[fault], { fault, code: code === undefined ? undefined : `SQLite ${code}` })
}
