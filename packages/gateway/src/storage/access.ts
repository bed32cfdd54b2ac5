import type { ApiKeyKind } from '../lib/secrets/apiKey.ts'
import type { Network } from '../lib/network.ts'
import type { AllowType } from './allowList.ts'
import { fromJson } from './jsonObject.ts'
import { networksOf } from './networksOf.ts'

/** All that the data plane asks about a key, found in one query. */
export interface Access {
  readonly keyId: string
  readonly kind: ApiKeyKind
  /** Moves with every rotation or revocation of an API key; of an app's key it is the app's, which moves with every change of either. */
  readonly version: number
  readonly keyState: 'active' | 'revoked'
  /** Whether it was found by the key from before the last rotation. */
  readonly old: boolean
  /** When this very key stops working: it expires, or the grace of an old one ends. `null`: never. */
  readonly endsAt: number | null
  /** Where it may be used. */
  readonly networks: readonly Network[]
  readonly user: {
    readonly id: string
    readonly state: 'active' | 'disabled'
    readonly limits: Readonly<Record<string, unknown>> | null
    /** The id of the user whose quota counter API keys use. */
    readonly quotaOwner: string
  }
  /** The app that the key is of; `null` for an API key. */
  readonly app: {
    readonly id: string
    readonly services: readonly string[]
    readonly requireJwt: boolean
    /** What a token's `aud` must be or hold; `null` for anything. */
    readonly jwtAudience: string | null
    /** How far ahead a token's `exp` may lie, in seconds; `null` for as far as the service says. */
    readonly jwtMaxLifetimeS: number | null
    readonly limits: Readonly<Record<string, unknown>> | null
    readonly allow: readonly { readonly type: AllowType; readonly value: string }[]
    readonly jwtKeys: readonly { readonly kid: string; readonly alg: string; readonly publicPem: string }[]
  } | null
}

/** What the statements of `accessSql.ts` give. */
export interface AccessRow {
  readonly key_id: string
  readonly kind: ApiKeyKind
  readonly version: number
  readonly key_state: 'active' | 'revoked'
  readonly old: number
  readonly old_until: number | null
  readonly expires_at: number | null
  readonly user_id: string
  readonly user_state: 'active' | 'disabled'
  readonly user_limits: string | null
  readonly quota_owner: string | null
  readonly app_id: string | null
  readonly services: string | null
  readonly testnet: number | null
  readonly mainnet: number | null
  readonly require_jwt: number | null
  readonly jwt_audience: string | null
  readonly jwt_max_lifetime_s: number | null
  readonly app_limits: string | null
  readonly allow: string | null
  readonly jwt_keys: string | null
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

const appOf = (row: AccessRow): Access['app'] =>
  row.app_id === null
    ? null
    : {
        id: row.app_id,
        services: JSON.parse(row.services ?? '[]') as string[],
        requireJwt: row.require_jwt === 1,
        jwtAudience: row.jwt_audience,
        jwtMaxLifetimeS: row.jwt_max_lifetime_s,
        limits: fromJson(row.app_limits),
        allow: (JSON.parse(row.allow ?? '[]') as [AllowType, string][]).map(([type, value]) => ({ type, value })),
        jwtKeys: (JSON.parse(row.jwt_keys ?? '[]') as [string, string, string][]).map(([kid, alg, publicPem]) => ({
          kid,
          alg,
          publicPem,
        })),
      }

/** Reads a row into what the data plane asks about. */
export const toAccess = (row: AccessRow): Access => ({
  keyId: row.key_id,
  kind: row.kind,
  version: row.version,
  keyState: row.key_state,
  old: row.old === 1,
  endsAt: row.old === 1 ? earlier(row.old_until, row.expires_at) : row.expires_at,
  networks: row.kind === 'app' ? networksOf(row) : [row.kind],
  user: {
    id: row.user_id,
    state: row.user_state,
    limits: fromJson(row.user_limits),
    quotaOwner: row.quota_owner ?? row.user_id,
  },
  app: appOf(row),
})
