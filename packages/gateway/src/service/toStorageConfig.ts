import type { StorageOptions } from '../storage/openStorage.ts'
import { checkStoreUrl, postgresUrl } from './checkStoreUrl.ts'
import { ConfigError } from './configError.ts'
import type { ServiceConfig } from './serviceConfig.ts'

/**
 * Where the service stores things: PostgreSQL by `DATABASE_URL`, else the file of `storage.file`.
 * @param config - The config.
 * @param environment - @default process.env
 * @throws {ConfigError} if neither is given, or `DATABASE_URL` is no URL of PostgreSQL. No URL is repeated.
 */
export const toStorageConfig = (
  { storage }: { readonly storage?: ServiceConfig['storage'] | undefined },
  environment: Readonly<Record<string, string | undefined>> = process.env,
): StorageOptions => {
  const { DATABASE_URL: databaseUrl = '' } = environment
  if (databaseUrl !== '') {
    checkStoreUrl('DATABASE_URL', databaseUrl, postgresUrl)
    return { databaseUrl }
  }
  if (storage !== undefined) return storage
  throw new ConfigError([
    {
      path: 'storage.file',
      fix: 'is missing: write the path of an SQLite file, or set DATABASE_URL to a PostgreSQL database',
    },
  ])
}
