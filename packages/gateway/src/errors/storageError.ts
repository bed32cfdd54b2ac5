/**
 * Why the storage failed.
 * `unavailable`: it cannot be reached or is closed. `busy`: it was locked for too long; can be retried.
 * `conflict`: a constraint was violated. `failed`: anything else.
 */
export type StorageFault = 'unavailable' | 'busy' | 'conflict' | 'failed'

/** An error of the storage. It contains no values, statements, addresses or objects of the driver, because they may contain secrets. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly fault: StorageFault
  /** The error code of the database, such as an SQLSTATE, if there is one. */
  readonly code: string | undefined

  constructor(message: string, { fault, code }: { fault: StorageFault; code?: string | undefined }) {
    super(code === undefined ? message : `${message} (${code})`)
    this.fault = fault
    this.code = code
  }
}

/**
 * Whether an error is a `StorageError`.
 * @param error - Anything that was caught.
 * @param fault - If given, only with this fault.
 */
export const isStorageError = (error: unknown, fault?: StorageFault): error is StorageError =>
  error instanceof StorageError && (fault === undefined || error.fault === fault)
