import { afterAll, beforeAll } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import type { TestDatabase } from './databases.ts'

/**
 * Opens the storage of a new database for the tests of a `describe`, and closes it after them.
 * @param set - Gets the storage before the first test.
 */
export const useStorage = (database: TestDatabase, set: (storage: Storage) => void): void => {
  let storage: Storage
  beforeAll(async () => {
    storage = await openStorage(await database.create())
    set(storage)
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })
}
