/**
 * Why the storage failed.
 * `unavailable`: cannot be reached, or is closed. `busy`: was held by somebody else for too long; may be tried again.
 * `conflict`: a constraint rejected it. `failed`: anything else.
 */
export type StorageFault = 'unavailable' | 'busy' | 'conflict' | 'failed'

/** What the storage throws. It holds no values, statements, addresses or driver's objects: those may hold secrets. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly fault: StorageFault
  /** The database's own code for it, such as an SQLSTATE, where there is one. */
  readonly code: string | undefined

  constructor(message: string, { fault, code }: { fault: StorageFault; code?: string | undefined }) {
    super(code === undefined ? message : `${message} (${code})`)
    this.fault = fault
    this.code = code
  }
}

/**
 * Whether an error came from the storage.
 * @param error - Anything that was caught.
 * @param fault - If given, only that fault.
 */
export const isStorageError = (error: unknown, fault?: StorageFault): error is StorageError =>
  error instanceof StorageError && (fault === undefined || error.fault === fault)
