import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StorageOptions } from '../../src/storage/openStorage.ts'
import { borrowDatabase } from './lendDatabases.ts'

/** A kind of database that tests run on. */
export interface TestDatabase {
  readonly name: 'sqlite' | 'postgres'
  /** Creates an empty database. */
  create(): Promise<StorageOptions>
  /** Cleans up after `create`. */
  stop(): Promise<void>
}

/** SQLite waits for the disk at each commit. Linux has a folder in memory, which makes tests faster. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const createSqlite = (): TestDatabase => {
  const folders: string[] = []
  return {
    name: 'sqlite',
    create: async () => {
      const folder = mkdtempSync(join(parent, 'keyrail-storage-'))
      folders.push(folder)
      return { file: join(folder, 'keyrail.db') }
    },
    stop: async () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    },
  }
}

const createPostgres = (): TestDatabase => ({
  name: 'postgres',
  create: async () => ({ databaseUrl: await borrowDatabase() }),
  // The databases are deleted with the server, after all tests.
  stop: async () => {},
})

/** For tests that need one database of any kind. */
export const sqlite: TestDatabase = createSqlite()

export const postgres: TestDatabase = createPostgres()

/** The databases that tests of storage run on. npm installs PostgreSQL. */
export const databases: readonly TestDatabase[] = [sqlite, postgres]

/**
 * The database that tests of what is built on storage run on: SQLite in `npm test`. `npm run verify` repeats the files that use it on PostgreSQL
 * (see scripts/testProjects.ts).
 */
export const suiteDatabases: readonly TestDatabase[] = databases.filter(
  ({ name }) => name === (process.env['KEYRAIL_TEST_DATABASE'] ?? 'sqlite'),
)
