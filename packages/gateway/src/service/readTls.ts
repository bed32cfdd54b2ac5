import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { GatewayConfig } from '../proxy/gatewayOptions.ts'
import { ConfigError, unreadableFile } from './configError.ts'
import type { ServiceConfig } from './serviceConfig.ts'

/**
 * Reads the certificate and its private key, if the config has them.
 * @throws {ConfigError} if a file cannot be read, or is not what it should be.
 */
export const readTls = ({ tls }: Pick<ServiceConfig, 'tls'>): GatewayConfig['tls'] => {
  if (tls === undefined) return undefined
  const read = (file: string, path: string): Buffer => {
    try {
      return readFileSync(file)
    } catch (error) {
      throw unreadableFile(path, error)
    }
  }
  const pem = { cert: read(tls.certFile, 'tls.certFile'), key: read(tls.keyFile, 'tls.keyFile') }
  try {
    createSecureContext(pem)
  } catch {
    // OpenSSL's messages do not help.
    const fix = 'must be a certificate chain (certFile) and its own private key (keyFile), both PEM'
    throw new ConfigError([{ path: 'tls', fix }])
  }
  return pem
}

/** Gets when a certificate ends, in milliseconds since 1970; `null` without one. */
export const getCertificateEnd = (tls: GatewayConfig['tls']): number | null =>
  tls === undefined ? null : new X509Certificate(tls.cert).validToDate.getTime()
