import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'

/** A self-signed certificate, and where its files are. */
export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  readonly cert: Buffer
  readonly key: Buffer
}

/** A DER value (X.690, 8.1), whose length takes as few bytes as possible. */
const der = (tag: number, ...contents: readonly (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part)))
  const { length } = content
  const head = [tag, ...(length < 0x80 ? [] : length < 0x100 ? [0x81] : [0x82, length >> 8]), length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents)
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const dayMs = 86_400_000
const time = (atMs: number): Buffer => der(0x17, new Date(atMs).toISOString().replace(/^..|[-:T]|\.\d+/g, ''))

/**
 * Creates a self-signed certificate (RFC 5280). It expires within 2 days.
 *
 * @param folder - Where to put `cert.pem` and `key.pem`.
 * @param name - The common name.
 * @param subjectAltNames - Further names: IPv4 addresses and hosts. @default none
 */
export function createCertificate(folder: string, name: string, subjectAltNames: readonly string[] = []): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))
  const subject = sequence(der(0x31, sequence(objectId('550403'), der(0x0c, name))))
  const alternatives = subjectAltNames.map((one) =>
    isIP(one) === 4 ? der(0x87, Buffer.from(one.split('.').map(Number))) : der(0x82, one),
  )
  const extensions = der(0xa3, sequence(sequence(objectId('551d11'), der(0x04, sequence(...alternatives)))))
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // A serial number is positive.
    der(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    subject,
    sequence(time(Date.now() - dayMs), time(Date.now() + 2 * dayMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(alternatives.length > 0 ? [extensions] : []),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey))
  const lines =
    sequence(signed, ecdsaWithSha256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const cert = Buffer.from(`-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`)
  const key = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  return { certFile, keyFile, cert, key }
}
