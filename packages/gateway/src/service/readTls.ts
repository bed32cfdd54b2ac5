import { readFileSync } from 'node:fs'
import type { GatewayOptions } from '../proxy/gatewayOptions.ts'
import { ConfigError } from './configError.ts'
import type { ServiceConfig } from './serviceConfig.ts'

/**
 * Reads the certificate and its key, if there are any.
 * @throws {ConfigError} where a file cannot be read.
 */
export const readTls = ({ tls }: Pick<ServiceConfig, 'tls'>): NonNullable<GatewayOptions['tls']> | undefined => {
  if (tls === undefined) return undefined
  const read = (file: string, path: string): Buffer => {
    try {
      return readFileSync(file)
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read'
      throw new ConfigError([{ path, fix: `names a file that cannot be read: ${reason}` }])
    }
  }
  return { cert: read(tls.certFile, 'tls.certFile'), key: read(tls.keyFile, 'tls.keyFile') }
}
