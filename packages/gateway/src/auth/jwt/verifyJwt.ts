import { verify } from 'node:crypto'
import type { JwtAlgorithm, JwtPublicKey } from './importJwtKey.ts'
import type { JwtPolicy } from './jwtPolicy.ts'
import type { JwtCheck, JwtResult } from './jwtResult.ts'
import { readNarrowingClaims } from './narrowingClaims.ts'
import { parseJwt } from './parseJwt.ts'
import type { ParsedJwt } from './parseJwt.ts'

/** How far a signer's clock may be ahead of ours, in seconds: for `nbf`, `iat` and the longest lifetime. An end is an end. */
const skewS = 30

/** These bring a key along, or ask for rules that are not known here. */
const rejectedHeaders: readonly string[] = ['crit', 'jku', 'x5u', 'jwk', 'x5c', 'b64', 'zip', 'enc']

const digestOf: Readonly<Record<JwtAlgorithm, string | null>> = {
  RS256: 'sha256',
  RS384: 'sha384',
  RS512: 'sha512',
  ES256: 'sha256',
  EdDSA: null,
}

const reject = (check: JwtCheck, message: string, untilMs: number = Infinity): JwtResult => ({
  ok: false,
  check,
  message,
  untilMs,
})

/**
 * Verifies a token by an app's keys. The key decides by what it is checked, and the token only which of the app's keys it is.
 * @param token - A JWS in compact form; `undefined` where there was none.
 * @param nowMs - Milliseconds since 1970.
 * @returns The verdict, naming the first check that failed. Never throws.
 * @example
 * verifyJwt(undefined, { keys: new Map(), audience: undefined, maxLifetimeS: 3600 }, Date.now()).ok // false
 * @see RFC 7515 section 5.2, RFC 7519 section 7.2, RFC 8725 section 3
 */
export const verifyJwt = (token: string | undefined, policy: JwtPolicy, nowMs: number): JwtResult => {
  if (token === undefined) return reject('missing', 'none was sent: use Authorization: Bearer')
  const parsed = parseJwt(token)
  if (parsed === undefined) return reject('malformed', 'malformed')
  const { header } = parsed
  const rejected = rejectedHeaders.find((name) => Object.hasOwn(header, name))
  if (rejected !== undefined) return reject('header', `header ${rejected} is not taken`)
  const { kid, alg } = header
  if (typeof kid !== 'string') return reject('kid', 'no kid')
  const key = policy.keys.get(kid)
  if (key === undefined) return reject('kid', 'unknown kid')
  const algorithm = key.algorithms.find((name) => name === alg)
  if (algorithm === undefined) return reject('algorithm', `the alg of this kid is ${key.algorithms.join(' or ')}`)
  if (!isSigned(parsed, key, algorithm)) return reject('signature', 'bad signature')
  return checkClaims(parsed.claims, { policy, kid, nowMs })
}

const isSigned = ({ signed, signature }: ParsedJwt, { key }: JwtPublicKey, algorithm: JwtAlgorithm): boolean => {
  try {
    // RFC 7518 section 3.4: the two numbers side by side, not in ASN.1.
    return verify(digestOf[algorithm], signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
  } catch {
    return false
  }
}

const isDate = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const checkClaims = (
  claims: Readonly<Record<string, unknown>>,
  { policy, kid, nowMs }: { policy: JwtPolicy; kid: string; nowMs: number },
): JwtResult => {
  const { exp, nbf, iat, aud } = claims
  const now = nowMs / 1000
  if (!isDate(exp)) return reject('expiry', exp === undefined ? 'no exp' : 'exp is no time in seconds')
  if (exp <= now) return reject('expiry', 'expired')
  const longest = policy.maxLifetimeS + skewS
  if (exp - now > longest)
    return reject('lifetime', `exp is more than ${policy.maxLifetimeS} seconds ahead`, (exp - longest) * 1000)
  if (nbf !== undefined && !isDate(nbf)) return reject('not_before', 'nbf is no time in seconds')
  if (nbf !== undefined && nbf - skewS > now) return reject('not_before', 'not valid yet', (nbf - skewS) * 1000)
  if (iat !== undefined && !isDate(iat)) return reject('issued_at', 'iat is no time in seconds')
  if (iat !== undefined && iat - skewS > now) return reject('issued_at', 'issued in the future', (iat - skewS) * 1000)
  const { audience } = policy
  if (audience !== undefined && aud !== audience && !(Array.isArray(aud) && aud.includes(audience)))
    return reject('audience', "aud is not this app's")
  const allow = readNarrowingClaims(claims)
  if (allow !== undefined && 'bad' in allow) return reject('claims', `${allow.bad} cannot be read`)
  return { ok: true, kid, untilMs: exp * 1000, allow }
}
