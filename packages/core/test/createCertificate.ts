import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A self-signed certificate, and where its files are. */
export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  readonly cert: Buffer
  readonly key: Buffer
}

/**
 * Creates a self-signed certificate with openssl. It expires within 2 days.
 *
 * @param folder - Where to put `cert.pem` and `key.pem`.
 * @param name - The common name.
 * @param subjectAltName - Further names, in openssl's form: `IP:127.0.0.1`. @default none
 */
export function createCertificate(folder: string, name: string, subjectAltName?: string): Certificate {
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'key.pem')
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', `/CN=${name}`, ...(subjectAltName ? ['-addext', `subjectAltName=${subjectAltName}`] : [])]
  const files = ['-keyout', keyFile, '-out', certFile]
  execFileSync('openssl', ['req', '-x509', ...curve, ...names, '-days', '2', ...files], { stdio: 'ignore' })
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) }
}
