import { createPublicKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** The algorithms that tokens may be signed by. */
export type JwtAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'ES256' | 'EdDSA'

/** A public key that tokens are checked with. */
export interface JwtPublicKey {
  /** In one spelling, whatever was given: this is what to store. */
  readonly pem: string
  /** The only ones that a token of this key may name. */
  readonly algorithms: readonly JwtAlgorithm[]
  /** base64 of the SHA-256 of the key's DER, as `openssl pkey -pubin -outform DER | openssl sha256 -binary | base64` prints it. */
  readonly fingerprint: string
  readonly key: KeyObject
}

const longest = 16_384
const leastRsaBits = 2048
/** Beyond this a single check takes milliseconds. */
const mostRsaBits = 8192
/** 65537 is what everybody uses; 32 bits are what other libraries take, and what a key may have whose checks are short all the same. */
const usualRsaExponent = 65_537n
const mostRsaExponent = 0xffff_ffffn
const longRsaBits = 4096

const shape = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/

/**
 * Imports a public key in PEM: RSA of 2048 to 8192 bits (RS256, RS384, RS512), P-256 (ES256) or Ed25519 (EdDSA). The algorithms follow
 * from the key, so a token cannot choose what it is checked by.
 * @param pem - One block `-----BEGIN PUBLIC KEY-----` (SPKI), with nothing around it but white space.
 * @throws {TypeError} where it is anything else, a private key above all. The message names the fix and repeats nothing of what was given.
 * @see RFC 7518 section 3, RFC 8037 section 3.1, RFC 7468 section 13
 */
export const importJwtKey = (pem: string): JwtPublicKey => {
  if (typeof pem !== 'string' || pem.length > longest)
    throw new TypeError(`the key must be a text of at most ${longest} characters`)
  if (/PRIVATE KEY/i.test(pem))
    throw new TypeError(
      'this is a private key, and was not stored: give only the public one (openssl pkey -in key.pem -pubout), and replace the key if others could see this',
    )
  if (pem.includes('BEGIN CERTIFICATE'))
    throw new TypeError('this is a certificate: give its key (openssl x509 -in cert.pem -pubkey -noout)')
  if (pem.includes('BEGIN RSA PUBLIC KEY'))
    throw new TypeError(
      "this is an RSA key in PKCS #1 form: give the one that begins with 'BEGIN PUBLIC KEY' (openssl rsa -RSAPublicKey_in -in key.pem -pubout)",
    )
  const [, body] = shape.exec(pem.trim()) ?? []
  if (body === undefined)
    throw new TypeError(
      "this is no public key in PEM: give the one block from '-----BEGIN PUBLIC KEY-----' to '-----END PUBLIC KEY-----'",
    )
  const key = readSpki(Buffer.from(body, 'base64'))
  const der = key.export({ format: 'der', type: 'spki' })
  return {
    pem: key.export({ format: 'pem', type: 'spki' }).toString(),
    algorithms: algorithmsOf(key),
    fingerprint: hash('sha256', der, 'base64'),
    key,
  }
}

const readSpki = (der: Buffer): KeyObject => {
  try {
    // By its DER, as createPublicKey would take a private key in PEM and make a public one of it.
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    throw new TypeError('the key cannot be read: copy it anew, whole')
  }
}

const algorithmsOf = (key: KeyObject): readonly JwtAlgorithm[] => {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key
  if (type === 'rsa') {
    const { modulusLength = 0, publicExponent = 0n } = details
    if (modulusLength < leastRsaBits || modulusLength > mostRsaBits)
      throw new TypeError(
        `an RSA key must have ${leastRsaBits} to ${mostRsaBits} bits, and this one has ${modulusLength}: make another`,
      )
    // With an exponent of 1 any text is its own signature; with a long one each check takes as long as a signature is made, or longer.
    const most = modulusLength > longRsaBits ? usualRsaExponent : mostRsaExponent
    if (publicExponent < 3n || publicExponent > most || publicExponent % 2n === 0n)
      throw new TypeError('the exponent of this RSA key is not safe: make another')
    return ['RS256', 'RS384', 'RS512']
  }
  if (type === 'ec' && details.namedCurve === 'prime256v1') return ['ES256']
  if (type === 'ed25519') return ['EdDSA']
  throw new TypeError('the key must be RSA, P-256 or Ed25519: make one of these')
}
