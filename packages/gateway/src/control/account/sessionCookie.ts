import { randomBytes } from 'node:crypto'
import { isSignOnToken } from './signOnFlow.ts'

const tokenShape = /^[A-Za-z0-9_-]{43}$/
const logInShape = /^usr_[0-9a-z]{20}\.\d{13}\.[\w-]{22}\.[\w-]{43}$/

/** Creates a session's secret: 256 random bits in base64url. */
export const createSessionToken = (): string => randomBytes(32).toString('base64url')

/** Whether a text has the format of a session's secret. */
export const isSessionToken = (text: string): boolean => tokenShape.test(text)

/** The options of the session cookie. */
export interface CookieOptions {
  /** Whether the dashboard is served over HTTPS. May be `false` only on loopback. */
  readonly secure: boolean
}

// Browsers accept the `__Host-` prefix only over HTTPS and only for this exact host, so another subdomain cannot set the cookie.
const getName = (name: CookieName, secure: boolean): string => `${secure ? '__Host-' : ''}keyrail-${name}`

/** `session`: of a log-in. `log-in`: of one that needs a second factor or a passkey. `sign-on`: of one at the OpenID Connect provider. */
type CookieName = 'session' | 'log-in' | 'sign-on'

const setCookie = (name: CookieName, value: string, expiresAt: number, secure: boolean): string =>
  `${getName(name, secure)}=${value}; Path=/; Expires=${new Date(expiresAt).toUTCString()}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

/**
 * Creates the `Set-Cookie` header of a session.
 * @param token - The session's secret.
 * @param options.expiresAt - The latest time at which the session expires, in milliseconds since 1970.
 * @see RFC 6265bis section 4.1.3
 */
export const createSessionCookie = (
  token: string,
  { secure, expiresAt }: CookieOptions & { readonly expiresAt: number },
): string => setCookie('session', token, expiresAt, secure)

/** Creates the `Set-Cookie` header that deletes the session cookie. */
export const clearSessionCookie = ({ secure }: CookieOptions): string => setCookie('session', '', 0, secure)

/** The same as `createSessionCookie` for the secret of a log-in at the OpenID Connect provider. */
export const createSignOnCookie = (
  token: string,
  { secure, expiresAt }: CookieOptions & { readonly expiresAt: number },
): string => setCookie('sign-on', token, expiresAt, secure)

/** Creates the `Set-Cookie` header that deletes the cookie of a log-in at the provider. */
export const clearSignOnCookie = ({ secure }: CookieOptions): string => setCookie('sign-on', '', 0, secure)

/** The same as `createSessionCookie` for the secret of a log-in that needs a second factor or a passkey. */
export const createLogInCookie = (
  token: string,
  { secure, expiresAt }: CookieOptions & { readonly expiresAt: number },
): string => setCookie('log-in', token, expiresAt, secure)

/** Creates the `Set-Cookie` header that deletes the cookie of `createLogInCookie`. */
export const clearLogInCookie = ({ secure }: CookieOptions): string => setCookie('log-in', '', 0, secure)

/**
 * Reads the session's secret from a `Cookie` header.
 * @returns The secret, or `undefined` if it is missing, malformed, or ambiguous: two cookies with different values mean that one of them
 * was set by someone else.
 */
export const readSessionToken = (
  cookieHeader: string | null | undefined,
  { secure }: CookieOptions,
): string | undefined => readCookie(cookieHeader, getName('session', secure), isSessionToken)

/** The same as `readSessionToken` for the secret of a log-in at the OpenID Connect provider. */
export const readSignOnToken = (
  cookieHeader: string | null | undefined,
  { secure }: CookieOptions,
): string | undefined => readCookie(cookieHeader, getName('sign-on', secure), isSignOnToken)

/** The same as `readSessionToken` for the cookie of `createLogInCookie`. */
export const readLogInToken = (
  cookieHeader: string | null | undefined,
  { secure }: CookieOptions,
): string | undefined =>
  readCookie(cookieHeader, getName('log-in', secure), (value) => logInShape.test(value) || isSessionToken(value))

const readCookie = (
  cookieHeader: string | null | undefined,
  name: string,
  isValid: (value: string) => boolean,
): string | undefined => {
  if (typeof cookieHeader !== 'string') return undefined
  const start = `${name}=`
  const values = cookieHeader
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length))
  const [first] = values
  return first !== undefined && isValid(first) && values.every((value) => value === first) ? first : undefined
}
