import type { OpenDatabase } from '../../src/storage/database.ts'
import type { StorageOptions } from '../../src/storage/openStorage.ts'
import { openPostgres } from '../../src/storage/postgres/openPostgres.ts'
import { openSqlite } from '../../src/storage/sqlite/openSqlite.ts'

/** Opens a database without the repositories and without migrating its tables. */
export const openRaw = (options: StorageOptions): Promise<OpenDatabase> =>
  'file' in options ? openSqlite(options.file) : openPostgres(options.databaseUrl)
