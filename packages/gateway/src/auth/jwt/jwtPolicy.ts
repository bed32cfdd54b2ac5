import { importJwtKey } from './importJwtKey.ts'
import type { JwtPublicKey } from './importJwtKey.ts'

/** A stored JWT key of an app. */
export interface JwtKeyEntry {
  readonly kid: string
  /** The public key in the form that `importJwtKey` returns. */
  readonly pem: string
}

/** An app's settings for tokens. */
export interface JwtSettings {
  /** At most 3: enough to rotate. */
  readonly keys: readonly JwtKeyEntry[]
  /** If set, `aud` must be it or contain it. */
  readonly audience?: string | undefined
  /** How far in the future `exp` may be, in seconds, from 1 to 31,536,000. @default 86_400 */
  readonly maxLifetimeS?: number | undefined
}

/** An app's compiled settings for tokens. */
export interface JwtPolicy {
  readonly keys: ReadonlyMap<string, JwtPublicKey>
  readonly audience: string | undefined
  readonly maxLifetimeS: number
}

/** The default of `maxLifetimeS`: a day. */
export const defaultLifetimeS = 86_400

/** Most JWT keys of one app. */
export const maxJwtKeys = 3

/**
 * Compiles an app's settings for tokens, once per version of an app.
 * @throws {TypeError} if a key or setting is invalid. The message names the fix and contains nothing of a key.
 */
export const compileJwtPolicy = ({ keys, audience, maxLifetimeS = defaultLifetimeS }: JwtSettings): JwtPolicy => {
  if (keys.length > maxJwtKeys) throw new TypeError(`an app can have at most ${maxJwtKeys} keys: remove one first`)
  if (!Number.isSafeInteger(maxLifetimeS) || maxLifetimeS < 1 || maxLifetimeS > 31_536_000)
    throw new TypeError('maxLifetimeS must be a whole number of seconds from 1 to 31536000')
  if (audience !== undefined && (typeof audience !== 'string' || audience === ''))
    throw new TypeError('audience must be a non-empty string: leave it out to accept any')
  const byKid = new Map(keys.map(({ kid, pem }) => [kid, importJwtKey(pem)]))
  if (byKid.size < keys.length) throw new TypeError('each key must have its own kid')
  if (byKid.has('')) throw new TypeError('a kid must not be empty')
  return { keys: byKid, audience, maxLifetimeS }
}
