import { createAccounts } from '../control/account/createAccounts.ts'
import type { Operator } from '../control/account/operator.ts'
import { createMailer } from '../email/createMailer.ts'
import { getHighestWeight } from '../proxy/method/weights.ts'
import { openStorage } from '../storage/openStorage.ts'
import { existsSync } from 'node:fs'
import { asStorageConfigError } from './asStorageConfigError.ts'
import { ConfigError } from './configError.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { rotateSecret } from './rotateSecret.ts'
import type { SecretRotation } from './rotateSecret.ts'
import { toStorageOptions } from './serviceEnvironment.ts'
import type { Environment } from './serviceEnvironment.ts'

/** Operator commands on the database of a service, which may be running. */
export interface OperatorTools {
  readonly users: Operator
  /** The URL of the dashboard. */
  readonly siteUrl: string
  /** @see rotateSecret */
  rotateSecret(options?: { drop?: boolean }): Promise<SecretRotation>
  close(): Promise<void>
}

/**
 * Opens the database of a service for its operator.
 * @param file - The path of the config file.
 * @param options.environment - For `DATABASE_URL` and `KEYRAIL_SECRET_FILE`. @default process.env
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
  const storageOptions = { postgres: config.postgres, ...toStorageOptions(config, environment) }
  // Not created here: it would belong to the operator, and the service could not open it.
  if ('file' in storageOptions && !existsSync(storageOptions.file))
    throw new ConfigError([
      { path: 'storage.file', fix: 'names a file that does not exist: start the service first, or check the path' },
    ])
  const storage = await openStorage(storageOptions).catch((error: unknown) => {
    throw asStorageConfigError(error, storageOptions)
  })
  const siteUrl = config.control?.publicUrl ?? config.publicUrl
  const mailer = createMailer({ config: () => config.email })
  const accounts = createAccounts({
    storage,
    signUp: () => config.signUp,
    passwordLogin: () => config.passwordLogin,
    mailer: { ...mailer, siteUrl: () => siteUrl },
    minBurst: () => getHighestWeight(config.limits.weights, resolveNetworkLimits(config)),
  })
  return {
    users: accounts.operator,
    siteUrl,
    rotateSecret: async ({ drop = false } = {}) => {
      const secretFile = environment['KEYRAIL_SECRET_FILE'] ?? ''
      if (secretFile === '')
        throw new ConfigError([
          {
            path: 'KEYRAIL_SECRET_FILE',
            fix: 'is missing: rotation needs a secret in a file, which every instance reloads',
          },
        ])
      return rotateSecret({ sealed: [storage.keys, storage.webhooks, storage.factors], file: secretFile, drop })
    },
    close: async () => {
      await mailer.close()
      await storage.close()
    },
  }
}

/**
 * Gets the path of a service's SQLite database.
 * @param file - The path of the config file.
 * @throws {ConfigError} if the file cannot be used, or the service uses PostgreSQL, which has its own tools.
 */
export const getDatabaseFile = (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): string => {
  const storage = toStorageOptions(readServiceConfig(file, { environment }), environment)
  if ('file' in storage) return storage.file
  throw new ConfigError([
    {
      path: 'DATABASE_URL',
      fix: 'is a PostgreSQL database: back it up with pg_dump and restore it with pg_restore',
    },
  ])
}
