import { isSessionToken } from './sessionToken.ts'

/** How the dashboard is reached. */
export interface CookieOptions {
  /** Whether it is reached by https. Only on loopback may it be false. */
  readonly secure: boolean
}

// A browser takes `__Host-` only from https, for this host alone and all its paths: no neighbour's subdomain can plant one.
const nameOf = (secure: boolean): string => (secure ? '__Host-keyrail-session' : 'keyrail-session')

const setCookie = (value: string, expiresAt: number, secure: boolean): string =>
  `${nameOf(secure)}=${value}; Path=/; Expires=${new Date(expiresAt).toUTCString()}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`

/**
 * The `Set-Cookie` header of a session.
 * @param token - The session's secret.
 * @param options.expiresAt - When it ends at the latest, in milliseconds since 1970.
 * @see RFC 6265bis section 4.1.3
 */
export const sessionCookie = (
  token: string,
  { secure, expiresAt }: CookieOptions & { readonly expiresAt: number },
): string => setCookie(token, expiresAt, secure)

/** The `Set-Cookie` header that takes a session's cookie away. */
export const endedCookie = ({ secure }: CookieOptions): string => setCookie('', 0, secure)

/**
 * Finds the session's secret in a `Cookie` header.
 * @returns The secret, or `undefined` where there is none, it has not the shape of one, or there are several that differ: then somebody
 * else has set one, and which is ours cannot be known.
 */
export const readSessionToken = (
  cookieHeader: string | null | undefined,
  { secure }: CookieOptions,
): string | undefined => {
  if (typeof cookieHeader !== 'string') return undefined
  const start = `${nameOf(secure)}=`
  const values = cookieHeader
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length))
  const [first] = values
  return first !== undefined && isSessionToken(first) && values.every((value) => value === first) ? first : undefined
}
