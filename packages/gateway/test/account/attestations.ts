import { generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Attested, Cbor } from './softAuthenticator.ts'

type Attestation = { readonly fmt: string; readonly attStmt: ReadonlyMap<string, Cbor> }

/** Encodes DER. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const { length } = body
  return Buffer.concat([length < 128 ? Buffer.of(tag, length) : Buffer.of(tag, 0x82, length >> 8, length & 255), body])
}
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
const number = (value: number) => der(2, Buffer.of(value))
const oid = (hex: string) => der(6, Buffer.from(hex, 'hex'))
const octets = (value: Uint8Array) => der(4, value)
const bits = (value: Uint8Array) => der(3, Buffer.of(0), value)
const name = (text: string) => sequence(der(0x31, sequence(oid('550403'), der(12, Buffer.from(text)))))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const validity = sequence(der(23, Buffer.from('200101000000Z')), der(23, Buffer.from('491231000000Z')))

/** Creates a certificate by the authority "root". */
const createCertificate = (
  subject: string,
  { publicKey, signWith, extensions = [] }: { publicKey: KeyObject; signWith: KeyObject; extensions?: Buffer[] },
): Buffer => {
  const body = sequence(
    der(0xa0, number(2)),
    number(1),
    ecdsaWithSha256,
    name('root'),
    validity,
    name(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  )
  return sequence(body, ecdsaWithSha256, bits(sign('sha256', body, signWith)))
}

/** An attestation of Android whose certificate names a URL of a revocation list. */
export const attestAndroidKey =
  (crlUrl: string) =>
  ({ publicKey, privateKey, authenticatorData, clientDataHash }: Attested): Attestation => {
    const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const crlPoint = der(0xa0, der(0xa0, der(0x86, Buffer.from(crlUrl))))
    const level = der(10, Buffer.of(0))
    const description = [number(1), level, number(1), level, octets(clientDataHash), octets(Buffer.alloc(0))]
    const leaf = createCertificate('leaf', {
      publicKey,
      signWith: root.privateKey,
      extensions: [
        sequence(oid('551d1f'), octets(sequence(sequence(crlPoint)))),
        sequence(oid('2b06010401d679020111'), octets(sequence(...description, sequence(), sequence()))),
      ],
    })
    const authority = createCertificate('root', { publicKey: root.publicKey, signWith: root.privateKey })
    const attStmt = new Map<string, Cbor>([
      ['alg', -7],
      ['sig', sign('sha256', Buffer.concat([authenticatorData, clientDataHash]), privateKey)],
      ['x5c', [leaf, authority]],
    ])
    return { fmt: 'android-key', attStmt }
  }

/** An attestation by the passkey's own key. @param x5c - Certificates, which a self attestation does not have. */
export const attestPacked =
  (x5c?: readonly Cbor[]) =>
  ({ privateKey, authenticatorData, clientDataHash }: Attested): Attestation => ({
    fmt: 'packed',
    attStmt: new Map<string, Cbor>([
      ['alg', -7],
      ['sig', sign('sha256', Buffer.concat([authenticatorData, clientDataHash]), privateKey)],
      ...(x5c === undefined ? [] : [['x5c', x5c] as const]),
    ]),
  })
