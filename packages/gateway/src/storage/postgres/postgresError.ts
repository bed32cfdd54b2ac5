import { StorageError } from '../../errors/storageError.ts'
import type { StorageFault } from '../../errors/storageError.ts'

/** By SQLSTATE, or the start of it. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const faults: readonly (readonly [start: string, fault: StorageFault])[] = [
  ['08', 'unavailable'],
  ['28', 'unavailable'],
  ['3D', 'unavailable'],
  ['53', 'unavailable'],
  ['57P', 'unavailable'],
  ['23', 'conflict'],
  ['40', 'busy'],
  ['55P03', 'busy'],
  ['57014', 'busy'],
]

/** No SQLSTATE class starts with an E, but Node's error codes do, and some have five letters: EPIPE. */
const sqlState = /^(?!E)[0-9A-Z]{5}$/

const getCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

const messages: Readonly<Record<StorageFault, string>> = {
  unavailable: 'the database cannot be reached',
  busy: 'the database was locked for too long',
  conflict: 'the database rejected a row that violates a constraint',
  failed: 'the database failed',
}

/** Converts an error of pg. Its message and detail are dropped, because they contain values and the host name. */

export const toPostgresError = (error: unknown): StorageError => {
  if (error instanceof StorageError) return error
  const code = getCode(error)
  // An error without an SQLSTATE is not from the server: the connection failed or was lost.
  const fault =
    code !== undefined && sqlState.test(code)
      ? (faults.find(([start]) => code.startsWith(start))?.[1] ?? 'failed')
      : 'unavailable'
  return new StorageError(messages[fault], { fault, code })
}
