import { verify } from 'node:crypto'
import { rejections, toTokenRejection } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { compileAllowList } from '../allowList/compileAllowList.ts'
import type { AllowList } from '../allowList/compileAllowList.ts'
import { foldName } from '../../lib/json/foldName.ts'
import type { JwtAlgorithm, JwtPublicKey } from './importJwtKey.ts'
import type { JwtPolicy } from './jwtPolicy.ts'
import { parseJwt } from './parseJwt.ts'
import type { ParsedJwt } from './parseJwt.ts'

/** The checks of a token, in the order in which they run. A rejection names the first that failed. */
export type JwtCheck =
  | 'missing'
  | 'malformed'
  | 'header'
  | 'kid'
  | 'algorithm'
  | 'signature'
  | 'expiry'
  | 'lifetime'
  | 'not_before'
  | 'issued_at'
  | 'audience'
  | 'claims'

/** The result of verifying a token. Of the token it contains only the key id. */
export type JwtResult =
  | {
      readonly ok: true
      readonly kid: string
      /** When the token expires, in milliseconds since 1970. */
      readonly untilMs: number
      /** The token's own allow list, if it has narrowing claims. Requests must pass it and the app's allow list. */
      readonly allow: AllowList | undefined
    }
  | {
      readonly ok: false
      readonly check: JwtCheck
      /** For the caller, after "invalid JWT: ". */
      readonly message: string
      /** Until when the result is valid, in milliseconds since 1970: a token that is too early may be valid later. */
      readonly untilMs: number
    }

/** How far a signer's clock may be ahead, in seconds: applies to `nbf`, `iat` and the longest lifetime, but not to `exp`. */
const skewS = 30

/** Headers that contain or reference a key, or require unsupported processing. */
const rejectedHeaders: readonly string[] = ['crit', 'jku', 'x5u', 'jwk', 'x5c', 'b64', 'zip', 'enc']

const digests: Readonly<Record<JwtAlgorithm, string | null>> = {
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
 * Verifies a token with an app's keys. The key determines the algorithms; the token only selects one of the app's keys.
 * @param token - A JWS in compact form; `undefined` if the request has none.
 * @param nowMs - Milliseconds since 1970.
 * @returns The result, with the first check that failed. Never throws.
 * @example
 * verifyJwt(undefined, { keys: new Map(), audience: undefined, maxLifetimeS: 3600 }, Date.now()).ok // false
 * @see RFC 7515 section 5.2, RFC 7519 section 7.2, RFC 8725 section 3
 */
export const verifyJwt = (token: string | undefined, policy: JwtPolicy, nowMs: number): JwtResult => {
  if (token === undefined) return reject('missing', 'no token was sent: use Authorization: Bearer')
  const parsed = parseJwt(token)
  if (parsed === undefined) return reject('malformed', 'malformed')
  const { header } = parsed
  const rejected = rejectedHeaders.find((name) => Object.hasOwn(header, name))
  if (rejected !== undefined) return reject('header', `header ${rejected} is not supported`)
  const { kid, alg } = header
  if (typeof kid !== 'string') return reject('kid', 'no kid')
  const key = policy.keys.get(kid)
  if (key === undefined) return reject('kid', 'unknown kid')
  const algorithm = key.algorithms.find((name) => name === alg)
  if (algorithm === undefined) return reject('algorithm', `the alg of this kid is ${key.algorithms.join(' or ')}`)
  if (!isSigned(parsed, key, algorithm)) return reject('signature', 'bad signature')
  return checkClaims(parsed.claims, { policy, kid, nowMs })
}

/** Returns the error response for a failed verification, or `undefined`. */
export const toJwtRejection = (result: JwtResult): Rejection | undefined =>
  result.ok ? undefined : rejections.jwtInvalid(result.check, result.message)

const isSigned = ({ signed, signature }: ParsedJwt, { key }: JwtPublicKey, algorithm: JwtAlgorithm): boolean => {
  try {
    // RFC 7518 section 3.4: an ECDSA signature is the two numbers concatenated, not ASN.1.
    return verify(digests[algorithm], signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
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
  if (!isDate(exp)) return reject('expiry', exp === undefined ? 'no exp' : 'exp is not a time in seconds')
  if (exp <= now) return reject('expiry', 'expired')
  const longest = policy.maxLifetimeS + skewS
  if (exp - now > longest)
    return reject('lifetime', `exp is more than ${policy.maxLifetimeS} seconds ahead`, (exp - longest) * 1000)
  if (nbf !== undefined && !isDate(nbf)) return reject('not_before', 'nbf is not a time in seconds')
  if (nbf !== undefined && nbf - skewS > now) return reject('not_before', 'not valid yet', (nbf - skewS) * 1000)
  if (iat !== undefined && !isDate(iat)) return reject('issued_at', 'iat is not a time in seconds')
  if (iat !== undefined && iat - skewS > now) return reject('issued_at', 'issued in the future', (iat - skewS) * 1000)
  const { audience } = policy
  if (audience !== undefined && aud !== audience && !(Array.isArray(aud) && aud.includes(audience)))
    return reject('audience', "aud is not this app's")
  const allow = parseNarrowingClaims(claims)
  if (allow !== undefined && 'problem' in allow) return reject('claims', allow.problem)
  return { ok: true, kid, untilMs: exp * 1000, allow }
}

const narrowingTypes = ['methods', 'addresses', 'origins'] as const

/**
 * Parses the claims that narrow what a token may be used for: `methods`, `addresses`, `origins`, each a list of entries as in an app's
 * allow list. They can only narrow, because the signer of a token does not control the app's settings.
 * @returns `undefined` if there are none; a problem if one is invalid, because that must not count as missing.
 */
export const parseNarrowingClaims = (
  claims: Readonly<Record<string, unknown>>,
): AllowList | undefined | { problem: string } => {
  // `Methods` was meant to narrow too, so it must not be ignored.
  const misspelt = Object.keys(claims).find((name) =>
    narrowingTypes.some((type) => name !== type && foldName(name) === type),
  )
  if (misspelt !== undefined) return { problem: `the claim ${foldName(misspelt)} must be in lower case` }
  const present = narrowingTypes.filter((type) => Object.hasOwn(claims, type))
  if (present.length === 0) return undefined
  const entries: Partial<Record<(typeof narrowingTypes)[number], readonly { value: string }[]>> = {}
  for (const type of present) {
    const values = claims[type]
    // An empty list in an app's settings restricts nothing. In a token its meaning would be a guess.
    if (!Array.isArray(values) || values.length === 0) return { problem: `${type} is invalid` }
    entries[type] = values.map((value) => ({ value: value as string }))
  }
  try {
    const list = compileAllowList(entries)
    return {
      rejectRequest: (request) => toTokenRejection(list.rejectRequest(request)),
      rejectCall: (call, row) => toTokenRejection(list.rejectCall(call, row)),
    }
  } catch {
    return { problem: `${present.join(', ')} ${present.length === 1 ? 'is' : 'are'} invalid` }
  }
}
