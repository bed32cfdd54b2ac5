import { createAccounts } from '../control/account/createAccounts.ts'
import type { Operator } from '../control/account/operator.ts'
import { openStorage } from '../storage/openStorage.ts'
import { asStorageConfigError } from './asStorageConfigError.ts'
import { ConfigError } from './configError.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { rotateSecret } from './rotateSecret.ts'
import type { SecretRotation } from './rotateSecret.ts'
import { toStorageConfig } from './toStorageConfig.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What an operator does at the command line, on the database of a service that may run meanwhile. */
export interface OperatorTools {
  readonly users: Operator
  /** Where browsers reach the dashboard. */
  readonly siteUrl: string
  /** @see rotateSecret */
  rotateSecret(options?: { drop?: boolean }): Promise<SecretRotation>
  close(): Promise<void>
}

/**
 * Opens the database of a service for its operator.
 * @param file - The config file.
 * @param options.environment - Where `DATABASE_URL` and `KEYRAIL_SECRET_FILE` are. @default process.env
 * @throws {ConfigError} if the file cannot be used or the database cannot be opened. {StorageError} if another process holds the database.
 * @example
 * const { users, close } = await openOperatorTools('keyrail.config.json')
 * for (const { email, state } of await users.listUsers({ limit: 100 })) console.log(email, state)
 * await close()
 */
export const openOperatorTools = async (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): Promise<OperatorTools> => {
  const config = readServiceConfig(file, { environment })
  const at = toStorageConfig(config, environment)
  const storage = await openStorage(at).catch((error: unknown) => {
    throw asStorageConfigError(error, at)
  })
  const accounts = createAccounts({ storage, signUp: () => config.signUp })
  return {
    users: accounts.operator,
    siteUrl: config.control?.publicUrl ?? config.publicUrl,
    rotateSecret: async ({ drop = false } = {}) => {
      const secretFile = environment['KEYRAIL_SECRET_FILE'] ?? ''
      if (secretFile === '')
        throw new ConfigError([
          {
            path: 'KEYRAIL_SECRET_FILE',
            fix: 'is missing: a secret is rotated in its file, so that every instance can take it from there',
          },
        ])
      return rotateSecret({ keys: storage.keys, file: secretFile, drop })
    },
    close: () => storage.close(),
  }
}

/**
 * The path of a service's SQLite database.
 * @param file - The config file.
 * @throws {ConfigError} where the file cannot be used, or the service is on PostgreSQL, which has tools of its own.
 */
export const databaseFileOf = (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): string => {
  const storage = toStorageConfig(readServiceConfig(file, { environment }), environment)
  if ('file' in storage) return storage.file
  throw new ConfigError([
    {
      path: 'DATABASE_URL',
      fix: 'names a PostgreSQL database: back it up with pg_dump, and restore it with pg_restore',
    },
  ])
}
