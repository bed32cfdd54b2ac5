import type { AllowList } from '../allowList/compileAllowList.ts'
import type { JwtPolicy } from '../jwt/jwtPolicy.ts'
import type { Network } from '../../lib/network.ts'
import type { Access } from '../../storage/access.ts'

/** The rate limit of a key. */
export interface KeyRate {
  /** Sustained calls per second; from 1. `null`: no limit. */
  readonly perSecond: number | null
  /** Most calls at once. Set it to at least the size of a full batch, because larger batches never pass whole. */
  readonly burst: number
}

/** The limits of a key. `null`: no limit. */
export interface KeyLimits extends KeyRate {
  /** Calls per UTC day. An app has its own quota; the API keys of a user share one. */
  readonly perDay: number | null
  /** Calls per UTC month. */
  readonly perMonth: number | null
  /** The rates on networks that have their own. Calls there do not count for the rate above. The quota counts calls to all networks. @default none */
  readonly networks?: Readonly<Record<Network, KeyRate>>
}

/** The record of a key, without the key itself. Omitted members restrict nothing. */
export interface KeyRecord {
  /** Identifies the key in logs. Not a secret. */
  readonly id: string
  /** `app`: used at `/{network}/v2/{key}`. `apiKey`: used at `/{network}/{key}`. */
  readonly kind: 'app' | 'apiKey'
  /** The networks that the key may use. */
  readonly networks: readonly Network[]
  /** Only `active` keys work; any other value is rejected. `disabled`: the key's user is disabled. */
  readonly status: 'active' | 'revoked' | 'expired' | 'disabled'
  /** When the key expires, in milliseconds since 1970. Checked for every request. @default null, for never */
  readonly expiresAt?: number | null
  /** The owner. API keys use the quota of their user. */
  readonly userId?: string
  /** The id of the user whose quota an API key uses. @default userId */
  readonly quotaOwner?: string
  /** The app of the key. Each app has its own quota. */
  readonly appId?: string
  /** Whether this is the old key, which works until the grace period after a rotation ends. Its calls are metered apart. @default false */
  readonly old?: boolean
  /** Changes with the record: cached token results are valid for one version only. @default 0 */
  readonly version?: number
  /** The services enabled for an app; without `Node API` calls get 403. @default all */
  readonly services?: readonly string[]
  /** @default everything is allowed */
  readonly allow?: AllowList
  /** The settings for tokens. If omitted, an `Authorization` header is ignored. */
  readonly jwt?: { readonly policy: JwtPolicy; readonly required: boolean }
  /** @default none */
  readonly limits?: KeyLimits
  /** What the request log records. @default only metadata */
  readonly recording?: Access['recording']
  /** What it asks for beyond the confirmed reads of a network, if that has `confirmByCallers`. @default nothing */
  readonly confirm?: Access['confirm']
}

/** The result of a key store. A plain value is faster than a promise. */
export type FoundKey = KeyRecord | undefined | Promise<KeyRecord | undefined>

/** Finds keys. If a store throws or rejects, the request fails with 503, never with 401. */
export interface KeyStore {
  /**
   * Finds the record of a key.
   * @param hash - The key's SHA-256 in lower-case hex.
   * @returns The record, or `undefined` if the key does not exist.
   */
  find(hash: string): FoundKey
  /**
   * Finds the record of an app by the id of one of its JWT keys, for calls without a key.
   * @param kid - From the token, of which nothing is verified yet.
   */
  findByKid(kid: string): FoundKey
  /** Whether `find` (`findByKid`) needs no database for this hash (kid). Other look-ups are limited for IPs that send many unknown keys. */
  isCached(text: string, by: 'hash' | 'kid'): boolean
}
