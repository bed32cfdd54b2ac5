import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { NewPasskey, PasskeyOptions, PasskeyResponse } from '../../src/control/account/factorProof.ts'

/** What a test changes in a response. */
interface Changes {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly counter?: number
  readonly isUserVerified?: boolean
  readonly userHandle?: string
  /** Attests a new passkey. @default without an attestation */
  readonly attest?: (signed: Attested) => { readonly fmt: string; readonly attStmt: ReadonlyMap<string, Cbor> }
}

/** What an attestation is about. */
export interface Attested {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  readonly authenticatorData: Buffer
  readonly clientDataHash: Buffer
}

/** An authenticator with one passkey. */
export interface SoftAuthenticator {
  readonly id: string
  /** Responds to `navigator.credentials.create`. */
  create(options: PasskeyOptions | null, changes?: Changes): NewPasskey
  /** Responds to `navigator.credentials.get`. */
  get(options: PasskeyOptions | null, changes?: Changes): PasskeyResponse
}

/** A value that authenticators send. */
export type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<number | string, Cbor>

const head = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.of((major << 5) | value)
  return value < 256 ? Buffer.of((major << 5) | 24, value) : Buffer.of((major << 5) | 25, value >> 8, value & 255)
}

/** Encodes CBOR, as far as authenticators need it. */
const encode = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (!(value instanceof Map)) {
    const list = value as readonly Cbor[]
    return Buffer.concat([head(4, list.length), ...list.map(encode)])
  }
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, member]) => [encode(key), encode(member)])])
}

const toCoseKey = (key: KeyObject): Buffer => {
  const { crv, x = '', y } = key.export({ format: 'jwk' })
  const toBytes = (text: string): Buffer => Buffer.from(text, 'base64url')
  return crv === 'P-256'
    ? encode(
        new Map<number, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, toBytes(x)],
          [-3, toBytes(y ?? '')],
        ]),
      )
    : encode(
        new Map<number, Cbor>([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, toBytes(x)],
        ]),
      )
}

/**
 * Creates an authenticator.
 * @param options.site - The origin of the page that uses it.
 * @param options.hasCounter - Whether it counts its signatures. @default true
 */
export const createSoftAuthenticator = ({
  site,
  algorithm = 'ES256',
  hasCounter = true,
}: {
  site: string
  algorithm?: 'ES256' | 'EdDSA'
  hasCounter?: boolean
}): SoftAuthenticator => {
  const { publicKey, privateKey } =
    algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  const credentialId = randomBytes(32)
  let counter = 0
  let handle = ''

  const createParts = (type: string, options: PasskeyOptions | null, changes: Changes, attested: Buffer) => {
    if (hasCounter) counter += 1
    const { origin = site, rpId = new URL(site).hostname, isUserVerified = true } = changes
    const clientData = JSON.stringify({
      type,
      challenge: changes.challenge ?? (options?.['challenge'] as string),
      origin,
      crossOrigin: false,
    })
    const flags = 1 | (isUserVerified ? 4 : 0) | (attested.length > 0 ? 64 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(changes.counter ?? counter)
    const rpIdHash = createHash('sha256').update(rpId).digest()
    const authenticatorData = Buffer.concat([rpIdHash, Buffer.of(flags), count, attested])
    return { clientData, clientDataJSON: Buffer.from(clientData).toString('base64url'), authenticatorData }
  }

  return {
    id: credentialId.toString('base64url'),
    create: (options, changes = {}) => {
      handle = ((options?.['user'] ?? {}) as { id?: string }).id ?? ''
      const attested = Buffer.concat([
        Buffer.alloc(16),
        Buffer.of(0, credentialId.length),
        credentialId,
        toCoseKey(publicKey),
      ])
      const parts = createParts('webauthn.create', options, changes, attested)
      const { clientData, clientDataJSON, authenticatorData } = parts
      const clientDataHash = createHash('sha256').update(clientData).digest()
      const { attest = () => ({ fmt: 'none', attStmt: new Map<string, Cbor>() }) } = changes
      const { fmt, attStmt } = attest({ publicKey, privateKey, authenticatorData, clientDataHash })
      const attestation = new Map<string, Cbor>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', authenticatorData],
      ])
      return {
        id: credentialId.toString('base64url'),
        clientDataJSON,
        attestationObject: encode(attestation).toString('base64url'),
        transports: ['internal'],
      }
    },
    get: (options, changes = {}) => {
      const parts = createParts('webauthn.get', options, changes, Buffer.alloc(0))
      const { clientData, clientDataJSON, authenticatorData } = parts
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()])
      return {
        id: credentialId.toString('base64url'),
        clientDataJSON,
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign(algorithm === 'ES256' ? 'sha256' : null, signed, privateKey).toString('base64url'),
        userHandle: changes.userHandle ?? handle,
      }
    },
  }
}
