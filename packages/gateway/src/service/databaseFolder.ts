import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorageError } from '../errors/storageError.ts'
import { getErrorCode } from './configError.ts'

/**
 * Creates the folder of an SQLite database, if it does not exist. Only its owner can read it.
 * @param file - The path of the database.
 * @throws {StorageError} if it cannot be created.
 */
export const createDatabaseFolder = (file: string): void => {
  const folder = dirname(file)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StorageError(`the folder ${folder} of the database cannot be created`, {
      fault: 'unavailable',
      code: getErrorCode(error),
    })
  }
}
