import { sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs a token: with EdDSA for an Ed25519 key, with ES256 for a P-256 key. RFC 7515 section 3.1, RFC 7518 section 3.4, RFC 8037 section 3.1. */
export function signJwt(key: KeyObject, kid: string, claims: object): string {
  const isEdwards = key.asymmetricKeyType === 'ed25519'
  const text = `${encode({ alg: isEdwards ? 'EdDSA' : 'ES256', typ: 'JWT', kid })}.${encode(claims)}`
  const signature = sign(isEdwards ? null : 'sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}
