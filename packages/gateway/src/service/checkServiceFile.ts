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
