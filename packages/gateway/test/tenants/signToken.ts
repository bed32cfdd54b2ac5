import { generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** A key pair that signs tokens, and its key id. */
export interface TokenSigner {
  readonly kid: string
  readonly pem: string
  readonly privateKey: KeyObject
}

/** Creates an Ed25519 key pair. */
export const createSigner = (kid: string): TokenSigner => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { kid, privateKey, pem: publicKey.export({ format: 'pem', type: 'spki' }).toString() }
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs a token. */
export const signToken = (
  { kid, privateKey }: TokenSigner,
  claims: object,
  header: object = { alg: 'EdDSA', kid },
): string => {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}
