import type { ApiKeyKind } from '../lib/secrets/apiKey.ts'
import type { Network } from '../lib/network.ts'
import type { AllowType } from './allowList.ts'
import { fromRow, jsonOrNull } from './columns.ts'
import type { RecordOf, RowOf } from './columns.ts'
import { appColumns, confirmColumns, jwtColumns, recordingColumns } from './tables.ts'

/** The columns of an app that `Access` has. */
export const accessAppColumns = { services: appColumns.services, limits: appColumns.limits, ...jwtColumns }

/** Everything that the proxy needs to know about a key, from one query. */
export interface Access {
  readonly keyId: string
  readonly kind: ApiKeyKind
  /** Of an API key: increases with each rotation or revocation. Of an app's key: the version of the app, which increases with each change of either. */
  readonly version: number
  readonly keyState: 'active' | 'revoked'
  /** Whether it was found by the previous key, from before the last rotation. */
  readonly old: boolean
  /** When this key stops working: its expiry, or the end of the grace period of a previous key. `null`: never. */
  readonly endsAt: number | null
  /** The networks on which it may be used. */
  readonly networks: readonly Network[]
  /** What the request log records. */
  readonly recording: RecordOf<typeof recordingColumns>
  /** How many nodes it wants to agree on a read. */
  readonly confirm: RecordOf<typeof confirmColumns>
  readonly user: {
    readonly id: string
    readonly state: 'active' | 'disabled'
    readonly limits: Readonly<Record<string, unknown>> | null
    /** The id of the user whose quota counter API keys use. */
    readonly quotaOwner: string
  }
  /** The app of the key; `null` for an API key. */
  readonly app:
    | (RecordOf<typeof accessAppColumns> & {
        readonly id: string
        readonly allow: readonly { readonly id: string; readonly type: AllowType; readonly value: string }[]
        readonly jwtKeys: readonly { readonly kid: string; readonly alg: string; readonly publicPem: string }[]
      })
    | null
}

/** A row of the statements in `accessSql.ts`. */
export interface AccessRow
  extends RowOf<typeof recordingColumns>, RowOf<typeof confirmColumns>, RowOf<typeof accessAppColumns> {
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
  readonly network: string | null
  readonly networks: string | null
  readonly allow: string | null
  readonly jwt_keys: string | null
}

const getEarlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

const toApp = (row: AccessRow): Access['app'] =>
  row.app_id === null
    ? null
    : {
        id: row.app_id,
        ...fromRow(accessAppColumns, row),
        allow: (JSON.parse(row.allow ?? '[]') as [string, AllowType, string][]).map(([id, type, value]) => ({
          id,
          type,
          value,
        })),
        jwtKeys: (JSON.parse(row.jwt_keys ?? '[]') as [string, string, string][]).map(([kid, alg, publicPem]) => ({
          kid,
          alg,
          publicPem,
        })),
      }

/** Converts a row to `Access`. */
export const toAccess = (row: AccessRow): Access => ({
  keyId: row.key_id,
  kind: row.kind,
  version: row.version,
  keyState: row.key_state,
  old: row.old === 1,
  endsAt: row.old === 1 ? getEarlier(row.old_until, row.expires_at) : row.expires_at,
  networks: row.network === null ? appColumns.networks.read(row.networks ?? '[]') : [row.network],
  recording: fromRow(recordingColumns, row),
  confirm: fromRow(confirmColumns, row),
  user: {
    id: row.user_id,
    state: row.user_state,
    limits: jsonOrNull.read(row.user_limits),
    quotaOwner: row.quota_owner ?? row.user_id,
  },
  app: toApp(row),
})
