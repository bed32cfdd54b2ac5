import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import type { OidcConfig, OidcFlow } from '../../oidc/oidcClient.ts'

/** How long a user has to log in at the provider, in milliseconds. */
const flowMs = 10 * 60_000

const shape = /^(\d{13})\.[\w-]{43}$/

/** What a log-in at the provider is for. A response to one for another client or URL is not accepted. */
export interface SignOnTarget {
  readonly config: Pick<OidcConfig, 'issuer' | 'clientId'>
  readonly redirectUri: string
}

/** A log-in at the provider that a browser has started. */
export interface SignOnFlow extends OidcFlow {
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/**
 * Creates the secret of a log-in, for a cookie: its expiry, and 256 random bits in base64url.
 * @param now - Milliseconds since 1970.
 */
export const createSignOnToken = (now: number): string => `${now + flowMs}.${randomBytes(32).toString('base64url')}`

/** Whether a text has the format of such a secret. */
export const isSignOnToken = (text: string): boolean => shape.test(text)

/**
 * Derives the secrets of a log-in from the token in the browser's cookie and the server secret. So nothing is stored for log-ins that nobody
 * finishes, and a browser can neither choose its state nor extend its expiry.
 */
export const deriveSignOnFlow = (
  token: string,
  { config: { issuer, clientId }, redirectUri }: SignOnTarget,
  { key }: ServerSecret,
): SignOnFlow => {
  // A separate key: the secret's own key encrypts API keys.
  const own = Buffer.from(hkdfSync('sha256', key, '', 'keyrail single sign-on', 32))
  const derive = (purpose: string): string =>
    createHmac('sha256', own)
      .update(JSON.stringify([purpose, token, issuer, clientId, redirectUri]))
      .digest('base64url')
  const [, expiresAt] = shape.exec(token) ?? []
  return {
    state: derive('state'),
    nonce: derive('nonce'),
    codeVerifier: derive('code verifier'),
    redirectUri,
    expiresAt: Number(expiresAt),
  }
}

/**
 * Finds the log-in that a response of the provider belongs to.
 * @param response - The query of the redirect URI.
 * @param options.secrets - The server secrets: the log-in may have started with an older one.
 * @returns `undefined` if it was started in another browser or for another client, or has expired.
 */
export const findSignOnFlow = (
  { token, response }: { token: string | undefined; response: string },
  { secrets, now, ...target }: SignOnTarget & { secrets: readonly ServerSecret[]; now: number },
): SignOnFlow | undefined => {
  if (token === undefined || !isSignOnToken(token)) return undefined
  const state = Buffer.from(new URLSearchParams(response).get('state') ?? '')
  return secrets
    .map((secret) => deriveSignOnFlow(token, target, secret))
    .find((flow) => {
      const expected = Buffer.from(flow.state)
      return expected.length === state.length && timingSafeEqual(expected, state) && flow.expiresAt > now
    })
}
