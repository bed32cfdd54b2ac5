import { randomBytes } from 'node:crypto'
import { isSignOnToken } from './signOnFlow.ts'

const tokenShape = /^[A-Za-z0-9_-]{43}$/
const logInShape = /^usr_[0-9a-z]{20}\.\d{13}\.[\w-]{22}\.[\w-]{43}(?:\.[\w-]{1,3000})?$/

/** Creates a session's secret: 256 random bits in base64url. */
export const createSessionToken = (): string => randomBytes(32).toString('base64url')

/** Whether a text has the format of a session's secret. */
export const isSessionToken = (text: string): boolean => tokenShape.test(text)

/** The options of a cookie. */
export interface CookieOptions {
  /** Whether the dashboard is served over HTTPS. May be `false` only on loopback. */
  readonly secure: boolean
}

/** Whether a text has the format of each cookie's secret. */
const isValid = {
  session: isSessionToken,
  /** Of a log-in that needs a second factor or a passkey. */
  'log-in': (text: string): boolean => logInShape.test(text) || isSessionToken(text),
  /** Of a log-in at the OpenID Connect provider. */
  'sign-on': isSignOnToken,
}

type CookieName = keyof typeof isValid

// Browsers accept the `__Host-` prefix only over HTTPS and only for this exact host, so another subdomain cannot set the cookie.
const getName = (name: CookieName, secure: boolean): string => `${secure ? '__Host-' : ''}keyrail-${name}`

/**
 * Creates the `Set-Cookie` header of a secret.
 * @param options.expiresAt - The latest time at which it expires, in milliseconds since 1970.
 * @see RFC 6265bis section 4.1.3
 */
export const createCookie = (
  name: CookieName,
  value: string,
  { secure, expiresAt }: CookieOptions & { readonly expiresAt: number },
): string =>
  `${getName(name, secure)}=${value}; Path=/; Expires=${new Date(expiresAt).toUTCString()}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

/** Creates the `Set-Cookie` header that deletes a cookie. */
export const clearCookie = (name: CookieName, { secure }: CookieOptions): string =>
  createCookie(name, '', { secure, expiresAt: 0 })

/**
 * Reads a secret from a `Cookie` header.
 * @returns The secret, or `undefined` if it is missing, malformed, or ambiguous: two cookies with different values mean that one of them
 * was set by someone else.
 */
export const readCookie = (
  name: CookieName,
  cookieHeader: string | null | undefined,
  { secure }: CookieOptions,
): string | undefined => {
  const start = `${getName(name, secure)}=`
  const values = (cookieHeader ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length))
  const [first] = values
  return first !== undefined && isValid[name](first) && values.every((value) => value === first) ? first : undefined
}
