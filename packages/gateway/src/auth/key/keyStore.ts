import type { AllowList } from '../allowList/compileAllowList.ts'
import type { JwtPolicy } from '../jwt/jwtPolicy.ts'
import type { Network } from '../../lib/network.ts'

/** How much a key may be used. `null` is no limit. */
export interface KeyLimits {
  /** Calls a second, in the long run; from 1. */
  readonly perSecond: number | null
  /** Calls at once by a key that was quiet: at least a full batch, so that one can pass at all. */
  readonly burst: number
  /** Calls in a day of UTC: of an app its own, of an API key all that its user's API keys share. */
  readonly perDay: number | null
  /** Calls in a month of UTC. */
  readonly perMonth: number | null
}

/** What the gateway knows of one key. Never the key itself. What a simple store leaves out restricts nothing. */
export interface KeyRecord {
  /** Names the key in logs. Not a secret. */
  readonly id: string
  /** `app`: at `/{network}/v2/{key}`. `apiKey`: at `/{network}/{key}`. */
  readonly kind: 'app' | 'apiKey'
  /** Where the key may be used. */
  readonly networks: readonly Network[]
  /** Only an active key is answered; a state that is not known here is rejected too. `disabled`: its user is. */
  readonly status: 'active' | 'revoked' | 'expired' | 'disabled'
  /** When the key ends, in milliseconds since 1970: judged at every request. @default null, for never */
  readonly endsAt?: number | null
  /** Whose it is. An API key's quota is its user's. */
  readonly userId?: string
  /** The id of the user whose quota counter an API key uses. @default userId */
  readonly quotaOwner?: string
  /** The app that it is of. An app's quota is its own. */
  readonly appId?: string
  /** Another one whenever something of the record changes: what was judged under one version holds for no other. @default 0 */
  readonly version?: number
  /** The services that an app has switched on; without `Node API` it answers 403. @default all */
  readonly services?: readonly string[]
  /** @default everything is allowed */
  readonly allow?: AllowList
  /** What is asked of tokens. Where there is none, an `Authorization` header is not looked at. */
  readonly jwt?: { readonly policy: JwtPolicy; readonly required: boolean }
  /** @default none */
  readonly limits?: KeyLimits
}

/** What a key store answers: a plain value is answered faster than a promise. */
export type FoundKey = KeyRecord | undefined | Promise<KeyRecord | undefined>

/** Finds keys. A store that throws or rejects makes the request fail with 503, never with 401. */
export interface KeyStore {
  /**
   * Finds the record of a key.
   * @param hash - The key's SHA-256 in lower hex.
   * @returns The record, or `undefined` (null is taken too) where no such key was ever made.
   */
  find(hash: string): FoundKey
  /**
   * Finds the record of an app by the id of one of its JWT keys, for calls that come without a key. A store without it takes no such calls.
   * @param kid - As the token names it: nothing of the token is checked yet.
   */
  findByKid?(kid: string): FoundKey
}
