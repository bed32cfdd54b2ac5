import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import { hashSecret } from './secretText.ts'

/** What a token is for. It is valid for nothing else. */
export interface TokenScope {
  readonly purpose: 'pendingLogIn' | 'passkeyResponse' | 'newPasskey' | 'newApp'
  /** What it is bound to, such as the hash of a session. */
  readonly binding: readonly string[]
}

/** A token that is valid. */
export interface ValidToken {
  /** Its SHA-256 in lower-case hex, with which it is used up. */
  readonly hash: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

const shape = /^(\d{13}\.[\w-]{22})\.([\w-]{43})$/

const sign = (head: string, { purpose, binding }: TokenScope, { key }: ServerSecret): string =>
  // A separate key: the secret's own key encrypts API keys.
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'keyrail signed tokens', 32)))
    .update(JSON.stringify([purpose, binding, head]))
    .digest('base64url')

/**
 * The server secret that signs and seals now.
 * @throws {Error} without one. A service always has one.
 */
export const getNewestSecret = ([newest]: readonly ServerSecret[]): ServerSecret => {
  if (newest === undefined) throw new Error('second factors need a server secret')
  return newest
}

/**
 * Creates a token that expires and that nobody else can create. So nothing is stored for log-ins that nobody finishes.
 * @param options.expiresAt - Milliseconds since 1970.
 */
export const createSignedToken = (
  scope: TokenScope,
  { secrets, expiresAt }: { secrets: readonly ServerSecret[]; expiresAt: number },
): string => {
  const head = `${expiresAt}.${randomBytes(16).toString('base64url')}`
  return `${head}.${sign(head, scope, getNewestSecret(secrets))}`
}

/**
 * Reads a token.
 * @param options.secrets - The server secrets: an older one may have signed it.
 * @returns `undefined` if it has expired or is for something else.
 */
export const readSignedToken = (
  token: string,
  scope: TokenScope,
  { secrets, now }: { secrets: readonly ServerSecret[]; now: number },
): ValidToken | undefined => {
  const [, head = '', signature = ''] = shape.exec(token) ?? []
  const expiresAt = Number.parseInt(head, 10)
  // Compared as text: of two texts with the same bytes, each would have a hash of its own, and could be used once.
  const given = Buffer.from(signature)
  const isValid = secrets.some((secret) => {
    const expected = Buffer.from(sign(head, scope, secret))
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
  return isValid && expiresAt > now ? { hash: hashSecret(token), expiresAt } : undefined
}
