import { readServerSecrets, readServiceConfig } from '@keyrail/gateway'

/**
 * Reads a service's config and the secret of its environment, as `serve` would, and starts nothing.
 *
 * @param file - The config file.
 * @throws {ConfigError} with all faults of the first that cannot be used.
 */
export function checkConfig(file: string): void {
  readServiceConfig(file)
  readServerSecrets()
}
