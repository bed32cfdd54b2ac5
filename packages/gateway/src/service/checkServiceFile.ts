import { checkSecrets } from './checkSecrets.ts'
import { createStaticFiles } from './staticFiles.ts'
import { readServerSecrets } from './readServerSecrets.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { readTls } from './readTls.ts'
import { toStorageConfig } from './toStorageConfig.ts'

/**
 * Reads a config file and the environment as `startFromFile` would, and starts nothing.
 * @param file - The config file.
 * @param options.environment - @default process.env
 * @throws {ConfigError} where one of them cannot be used, naming what and the fix.
 * @example
 * checkServiceFile('keyrail.config.json')
 */
export const checkServiceFile = (
  file: string,
  { environment = process.env }: { environment?: Readonly<Record<string, string | undefined>> } = {},
): void => {
  const config = readServiceConfig(file, { environment })
  readServerSecrets(environment)
  toStorageConfig(config, environment)
  checkSecrets({
    redisUrl: environment['REDIS_URL'] || undefined,
    operatorToken: environment['KEYRAIL_OPERATOR_TOKEN'] || undefined,
  })
  readTls(config)
  if (config.dashboard !== undefined) createStaticFiles(config.dashboard.folder, {})
}
