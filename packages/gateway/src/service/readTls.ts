import { readFileSync } from 'node:fs'
import type { GatewayOptions } from '../proxy/gatewayOptions.ts'
import { unreadableFile } from './configError.ts'
import type { ServiceConfig } from './serviceConfig.ts'

/**
 * Reads the certificate and its private key, if the config has them.
 * @throws {ConfigError} if a file cannot be read.
 */
export const readTls = ({ tls }: Pick<ServiceConfig, 'tls'>): GatewayOptions['tls'] => {
  if (tls === undefined) return undefined
  const read = (file: string, path: string): Buffer => {
    try {
      return readFileSync(file)
    } catch (error) {
      throw unreadableFile(path, error)
    }
  }
  return { cert: read(tls.certFile, 'tls.certFile'), key: read(tls.keyFile, 'tls.keyFile') }
}
