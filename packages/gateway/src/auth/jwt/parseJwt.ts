import { isUtf8 } from 'node:buffer'
import { scanMembers } from '../../lib/json/scanMembers.ts'

/** A parsed token. Nothing of it is verified yet. */
export interface ParsedJwt {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  readonly signature: Buffer
  /** The bytes that the signature covers. */
  readonly signed: Buffer
}

/** Most characters: enough for any token, and short enough for a header. */
const longest = 8192

/** Decodes canonical base64url: no padding, and unused bits are zero. */
const decodeBase64url = (part: string): Buffer | undefined => {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : undefined
}

const decodeObject = (part: string): Readonly<Record<string, unknown>> | undefined => {
  const bytes = decodeBase64url(part)
  if (bytes === undefined || !isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  try {
    JSON.parse(text)
    const scanned = scanMembers(text)
    if (scanned === undefined) return undefined
    // Parses each member's own text, because JSON.parse in Node 24.21 may misread a name with an escape.
    const members = scanned.members.map(({ name, start, end }) => [name, JSON.parse(text.slice(start, end))] as const)
    const value: Readonly<Record<string, unknown>> = Object.fromEntries(members)
    return Object.keys(value).length === members.length ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Parses a token without verifying it.
 * @param token - A JWS in compact form.
 * @returns `undefined` if it is malformed: wrong number of parts, not base64url, not a JSON object, a repeated member name. Never throws.
 * @see RFC 7515 section 7.1, RFC 7519 section 7.2
 */
export const parseJwt = (token: string): ParsedJwt | undefined => {
  if (token.length > longest) return undefined
  const [first, second, third, ...more] = token.split('.')
  if (first === undefined || second === undefined || third === undefined || more.length > 0) return undefined
  const header = decodeObject(first)
  const claims = header && decodeObject(second)
  const signature = claims && decodeBase64url(third)
  if (header === undefined || claims === undefined || signature === undefined) return undefined
  return { header, claims, signature, signed: Buffer.from(`${first}.${second}`, 'ascii') }
}

/**
 * Parses the key id of a token, which identifies the app if the URL has no key. Nothing of the token is verified yet.
 * @example
 * parseKid('not a token') // undefined
 */
export const parseKid = (token: string): string | undefined => {
  const [first = ''] = token.length > longest ? [] : token.split('.', 1)
  const kid = decodeObject(first)?.['kid']
  return typeof kid === 'string' && kid.length <= 256 ? kid : undefined
}
