import { formatCause } from '../errors/causes.ts'
import { isStorageError } from '../errors/storageError.ts'
import type { StorageError } from '../errors/storageError.ts'
import type { StorageOptions } from '../storage/openStorage.ts'
import { ConfigError } from './configError.ts'

/** The reason in words, with the code. The message of a {@link StorageError} contains no part of a URL. */
const formatReason = ({ code, message }: StorageError, isFile: boolean): string =>
  (code === undefined ? undefined : formatCause(isFile ? 'sqlite' : 'postgres', code)) ?? message

/**
 * Turns an error of `openStorage` into a config error that names the setting and the reason.
 * @returns The config error. Other errors, and the error for a database that is in use, are returned unchanged.
 */
export const asStorageConfigError = (error: unknown, storage: StorageOptions): unknown => {
  if (!isStorageError(error) || error.fault === 'busy') return error
  const isFile = 'file' in storage
  return new ConfigError([
    { path: isFile ? 'storage.file' : 'DATABASE_URL', fix: `cannot be used: ${formatReason(error, isFile)}` },
  ])
}
