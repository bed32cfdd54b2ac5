/** A copy of a database that cannot be written or restored. The message says how to fix it. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

/**
 * Whether an error is a {@link BackupError}.
 * @param error - Anything that was caught.
 */
export const isBackupError = (error: unknown): error is BackupError => error instanceof BackupError
