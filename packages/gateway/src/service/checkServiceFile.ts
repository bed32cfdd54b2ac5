import { existsSync } from 'node:fs'
import { isStorageError } from '../errors/storageError.ts'
import { openStorage } from '../storage/openStorage.ts'
import { asStorageConfigError } from './asStorageConfigError.ts'
import { checkSecret, isWrongSecret, wrongSecretError } from './checkSecret.ts'
import type { SecretCheck } from './checkSecret.ts'
import { isConfigError } from './configError.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import { createStaticFiles } from './staticFiles.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { readTls } from './readTls.ts'
import { readServiceEnvironment } from './serviceEnvironment.ts'
import type { Environment } from './serviceEnvironment.ts'
import { toGatewayConfig } from './toGatewayConfig.ts'

/**
 * Checks a config file and the environment as `startFromFile` does, without starting the service.
 * @param file - The path of the config file.
 * @param options.environment - @default process.env
 * @throws {ConfigError} that names each fault and how to fix it.
 * @example
 * checkServiceFile('keyrail.config.json')
 */
export const checkServiceFile = (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): void => {
  const config = readServiceConfig(file, { environment })
  readServiceEnvironment(config, environment)
  toGatewayConfig(config, resolveNetworkLimits(config), { tls: readTls(config), tracer: undefined })
  if (config.dashboard !== undefined) createStaticFiles(config.dashboard.folder, {})
}

/** The result of {@link checkStoredKeys}: how many stored keys the secret decrypts, or why that is not known. */
export type StoredKeysCheck = SecretCheck | { readonly unknown: string }

/**
 * Checks the secret of a service against the keys in its database, which may be in use. It changes nothing.
 * @param file - The path of the config file.
 * @param options.environment - @default process.env
 * @param options.newSecret - Accepts a secret that decrypts no stored key. @default false
 * @returns How many stored keys the secret decrypts; why it is unknown if the database cannot be read or does not exist yet.
 * @throws {ConfigError} if the file or the environment cannot be used, or the secret decrypts no stored key.
 * @example
 * await checkStoredKeys('keyrail.config.json') // { decrypted: 12, stored: 12 }
 */
export const checkStoredKeys = async (
  file: string,
  { environment = process.env, newSecret = false }: { environment?: Environment; newSecret?: boolean } = {},
): Promise<StoredKeysCheck> => {
  const config = readServiceConfig(file, { environment })
  const { storage: options, secrets } = readServiceEnvironment(config, environment)
  if ('file' in options && !existsSync(options.file)) return { unknown: 'the database does not exist yet' }
  let check: SecretCheck
  try {
    const storage = await openStorage({ postgres: config.postgres, ...options }, { migrates: false })
    try {
      check = await checkSecret(storage, secrets)
    } finally {
      await storage.close()
    }
  } catch (error) {
    const shown = asStorageConfigError(error, options)
    return { unknown: isConfigError(shown) || isStorageError(shown) ? shown.message : 'the database cannot be read' }
  }
  if (isWrongSecret(check) && !newSecret) throw wrongSecretError(check)
  return check
}
