import { isUtf8 } from 'node:buffer'
import { scanMembers } from '../../lib/json/scanMembers.ts'

/** A token, taken apart and not yet believed. */
export interface ParsedJwt {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  readonly signature: Buffer
  /** What the signature is over. */
  readonly signed: Buffer
}

/** Longer than a token need be, and short enough for a header. */
const longest = 8192

/** base64url in its one spelling: no padding, and the bits that are left over are zero. */
const bytesOf = (part: string): Buffer | undefined => {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : undefined
}

const objectOf = (part: string): Readonly<Record<string, unknown>> | undefined => {
  const bytes = bytesOf(part)
  if (bytes === undefined || !isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  try {
    JSON.parse(text)
    const scanned = scanMembers(text)
    if (scanned === undefined) return undefined
    // By the members' own text: in Node 24.21, JSON.parse may misread a name that has an escape in it.
    const members = scanned.members.map(({ name, start, end }) => [name, JSON.parse(text.slice(start, end))] as const)
    const value: Readonly<Record<string, unknown>> = Object.fromEntries(members)
    return Object.keys(value).length === members.length ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Takes a token apart.
 * @param token - A JWS in compact form.
 * @returns `undefined` where it is none: wrong number of parts, no base64url, no JSON object, a repeated member name. Never throws.
 * @see RFC 7515 section 7.1, RFC 7519 section 7.2
 */
export const parseJwt = (token: string): ParsedJwt | undefined => {
  if (token.length > longest) return undefined
  const [first, second, third, ...more] = token.split('.')
  if (first === undefined || second === undefined || third === undefined || more.length > 0) return undefined
  const header = objectOf(first)
  const claims = header && objectOf(second)
  const signature = claims && bytesOf(third)
  if (header === undefined || claims === undefined || signature === undefined) return undefined
  return { header, claims, signature, signed: Buffer.from(`${first}.${second}`, 'ascii') }
}

/**
 * The key id that a token names, to find the app by where the address has no key. Nothing of the token is checked yet.
 * @example
 * kidOf('no token') // undefined
 */
export const kidOf = (token: string): string | undefined => {
  const [first = ''] = token.length > longest ? [] : token.split('.', 1)
  const kid = objectOf(first)?.['kid']
  return typeof kid === 'string' && kid.length <= 256 ? kid : undefined
}
