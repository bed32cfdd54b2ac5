import { StorageError } from '../../errors/storageError.ts'
import type { StorageFault } from '../../errors/storageError.ts'

/** By SQLSTATE class, or the whole of it. https://www.postgresql.org/docs/current/errcodes-appendix.html */
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

/** No class begins with an E; Node's own codes do, and some have five letters: EPIPE. */
const sqlState = /^(?!E)[0-9A-Z]{5}$/

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

const messages: Readonly<Record<StorageFault, string>> = {
  unavailable: 'the database cannot be reached',
  busy: 'the database was held by somebody else for too long',
  conflict: 'the database rejected a row that breaks one of its rules',
  failed: 'the database failed',
}

/** What may be told of an error of pg: its text and detail hold values, and the host's name. */
export const postgresError = (error: unknown): StorageError => {
  if (error instanceof StorageError) return error
  const code = codeOf(error)
  // What has no SQLSTATE was not said by the server: a connection that could not be made or was lost.
  const fault =
    code !== undefined && sqlState.test(code)
      ? (faults.find(([start]) => code.startsWith(start))?.[1] ?? 'failed')
      : 'unavailable'
  return new StorageError(messages[fault], { fault, code })
}
