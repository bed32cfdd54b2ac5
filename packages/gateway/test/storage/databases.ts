import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StorageOptions } from '../../src/storage/openStorage.ts'
import { postgresBinaries } from './postgresBinaries.ts'
import { startPostgres } from './startPostgres.ts'
import type { Postgres } from './startPostgres.ts'

/** One kind of database that the storage is tested on. */
export interface TestDatabase {
  readonly name: 'sqlite' | 'postgres'
  /** Makes an empty database. */
  create(): Promise<StorageOptions>
  /** Ends what `create` began. */
  stop(): Promise<void>
}

const createSqlite = (): TestDatabase => {
  const folders: string[] = []
  return {
    name: 'sqlite',
    create: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'keyrail-storage-'))
      folders.push(folder)
      return { file: join(folder, 'keyrail.db') }
    },
    stop: async () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    },
  }
}

const createPostgres = (): TestDatabase => {
  let server: Promise<Postgres> | undefined
  return {
    name: 'postgres',
    create: async () => ({ databaseUrl: await (await (server ??= startPostgres())).createDatabase() }),
    stop: async () => (await server)?.stop(),
  }
}

/** Where everything is to be tested, a server that is missing is a failure. */
const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'
const hasPostgres = postgresBinaries() !== undefined
/** The databases that tests run on: SQLite, and PostgreSQL where it can be started. A server is begun by the first that asks for it. */
export const databases: readonly TestDatabase[] = [
  createSqlite(),
  ...(hasPostgres || mustRun ? [createPostgres()] : []),
]
