import { importJwtKey } from './importJwtKey.ts'
import type { JwtPublicKey } from './importJwtKey.ts'

/** One of an app's JWT keys, as it is stored. */
export interface JwtKeyEntry {
  readonly kid: string
  /** The public key, as `importJwtKey` spells it. */
  readonly pem: string
}

/** What an app asks of its tokens. */
export interface JwtSettings {
  /** At most 3: enough to change from one to the next. */
  readonly keys: readonly JwtKeyEntry[]
  /** Where given, `aud` must be it or hold it. */
  readonly audience?: string | undefined
  /** How far ahead `exp` may lie, in seconds, from 1 to 31,536,000. @default 86_400 */
  readonly maxLifetimeS?: number | undefined
}

/** An app's settings for tokens, ready to be asked. */
export interface JwtPolicy {
  readonly keys: ReadonlyMap<string, JwtPublicKey>
  readonly audience: string | undefined
  readonly maxLifetimeS: number
}

/** How far ahead `exp` may lie where an app says nothing, in seconds: a day. */
export const defaultLifetimeS = 86_400

/** Most JWT keys of one app. */
export const maxJwtKeys = 3

/**
 * Compiles an app's settings for tokens: once for each version of an app.
 * @throws {TypeError} where a key or a setting is wrong. The message names the fix and repeats nothing of a key.
 */
export const compileJwtPolicy = ({ keys, audience, maxLifetimeS = defaultLifetimeS }: JwtSettings): JwtPolicy => {
  if (keys.length > maxJwtKeys) throw new TypeError(`keys must be no more than ${maxJwtKeys}: remove one first`)
  if (!Number.isSafeInteger(maxLifetimeS) || maxLifetimeS < 1 || maxLifetimeS > 31_536_000)
    throw new TypeError('maxLifetimeS must be a whole number of seconds from 1 to 31536000')
  if (audience !== undefined && (typeof audience !== 'string' || audience === ''))
    throw new TypeError('audience must be a text that is not empty: leave it out to take any')
  const byKid = new Map(keys.map(({ kid, pem }) => [kid, importJwtKey(pem)]))
  if (byKid.size < keys.length) throw new TypeError('keys must each have a kid of their own')
  if (byKid.has('')) throw new TypeError('a kid must not be empty')
  return { keys: byKid, audience, maxLifetimeS }
}
