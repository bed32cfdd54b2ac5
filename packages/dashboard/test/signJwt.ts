import { sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Signs a token with ES256, as the server of a customer would.
 * @param options.forSeconds - Its lifetime. @default 300
 * @param options.aud - Its audience. @default none
 */
export function signJwt(
  key: KeyObject,
  kid: string,
  { forSeconds = 300, aud }: { readonly forSeconds?: number; readonly aud?: string } = {},
): string {
  const now = Math.floor(Date.now() / 1_000)
  const claims = { iat: now, exp: now + forSeconds, ...(aud !== undefined && { aud }) }
  const text = `${encode({ alg: 'ES256', typ: 'JWT', kid })}.${encode(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}
