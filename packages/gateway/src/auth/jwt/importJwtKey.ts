import { createPublicKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** The signature algorithms of tokens. */
export type JwtAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'ES256' | 'EdDSA'

/** A public key that verifies tokens. */
export interface JwtPublicKey {
  /** The canonical form, to store. */
  readonly pem: string
  /** The algorithms that a token of this key may have. */
  readonly algorithms: readonly JwtAlgorithm[]
  /** base64 of the SHA-256 of the key's DER, as `openssl pkey -pubin -outform DER | openssl sha256 -binary | base64` prints it. */
  readonly fingerprint: string
  readonly key: KeyObject
}

const longest = 16_384
const minRsaBits = 2048
/** With a longer key a single check takes milliseconds. */
const maxRsaBits = 8192
/** Nearly all keys use 65537. Other libraries accept 32 bits; so do we for keys short enough that a check stays fast. */
const usualRsaExponent = 65_537n
const maxRsaExponent = 0xffff_ffffn
const longRsaBits = 4096

const pemPattern = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/

/**
 * Imports a public key in PEM: RSA with 2048 to 8192 bits (RS256, RS384, RS512), P-256 (ES256) or Ed25519 (EdDSA). The key determines the
 * algorithms, so a token cannot choose how it is verified.
 * @param pem - One block `-----BEGIN PUBLIC KEY-----` (SPKI), surrounded only by white space.
 * @throws {TypeError} for anything else, such as a private key. The message names the fix and contains nothing of the input.
 * @see RFC 7518 section 3, RFC 8037 section 3.1, RFC 7468 section 13
 */
export const importJwtKey = (pem: string): JwtPublicKey => {
  if (typeof pem !== 'string' || pem.length > longest)
    throw new TypeError(`the key must be a string of at most ${longest} characters`)
  if (/PRIVATE KEY/i.test(pem))
    throw new TypeError(
      'this is a private key and was not stored: send only the public key (openssl pkey -in key.pem -pubout), and replace the key if others could have seen it',
    )
  if (pem.includes('BEGIN CERTIFICATE'))
    throw new TypeError('this is a certificate: send its public key (openssl x509 -in cert.pem -pubkey -noout)')
  if (pem.includes('BEGIN RSA PUBLIC KEY'))
    throw new TypeError(
      "this is an RSA key in PKCS #1 form: convert it to one that starts with 'BEGIN PUBLIC KEY' (openssl rsa -RSAPublicKey_in -in key.pem -pubout)",
    )
  const [, body] = pemPattern.exec(pem.trim()) ?? []
  if (body === undefined)
    throw new TypeError(
      "this is not a public key in PEM: send the one block from '-----BEGIN PUBLIC KEY-----' to '-----END PUBLIC KEY-----'",
    )
  const key = readSpki(Buffer.from(body, 'base64'))
  const der = key.export({ format: 'der', type: 'spki' })
  return {
    pem: key.export({ format: 'pem', type: 'spki' }).toString(),
    algorithms: getAlgorithms(key),
    fingerprint: hash('sha256', der, 'base64'),
    key,
  }
}

const readSpki = (der: Buffer): KeyObject => {
  try {
    // Reads the DER, because createPublicKey also accepts a private key in PEM and derives the public one.
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    throw new TypeError('the key is damaged: copy the whole key again')
  }
}

const getAlgorithms = (key: KeyObject): readonly JwtAlgorithm[] => {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key
  if (type === 'rsa') {
    const { modulusLength = 0, publicExponent = 0n } = details
    if (modulusLength < minRsaBits || modulusLength > maxRsaBits)
      throw new TypeError(
        `an RSA key must have ${minRsaBits} to ${maxRsaBits} bits, and this one has ${modulusLength}: generate another`,
      )
    // With exponent 1 any text is its own signature. With a long exponent a check takes as long as signing, or longer.
    const most = modulusLength > longRsaBits ? usualRsaExponent : maxRsaExponent
    if (publicExponent < 3n || publicExponent > most || publicExponent % 2n === 0n)
      throw new TypeError('the exponent of this RSA key is not safe: generate another key')
    return ['RS256', 'RS384', 'RS512']
  }
  if (type === 'ec' && details.namedCurve === 'prime256v1') return ['ES256']
  if (type === 'ed25519') return ['EdDSA']
  throw new TypeError('the key must be RSA, P-256 or Ed25519')
}
