import { sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs a token by ES256, as a customer's server would. */
export function signJwt(key: KeyObject, kid: string, forSeconds = 300): string {
  const now = Math.floor(Date.now() / 1_000)
  const text = `${encode({ alg: 'ES256', typ: 'JWT', kid })}.${encode({ iat: now, exp: now + forSeconds })}`
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}
