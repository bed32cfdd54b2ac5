import type { Accounts, SignUpMode } from './account/accounts.ts'
import type { KeyLimits } from '../auth/key/keyStore.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { ReadMetrics } from '../usage/metering/metrics.ts'
import type { Network } from '../lib/network.ts'
import type { Quota } from '../usage/quota/quota.ts'
import type { Change } from '../storage/changes.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { RouteName } from './contract/route.ts'

/** How the service is configured, as far as the control API is concerned. */
export interface ControlConfig {
  readonly signUp: SignUpMode
  /** Whether a sealed copy of each new key is kept, and keys are shown again. */
  readonly reveal: boolean
  /** How many apps an account may have. */
  readonly maxApps: number
  /** What holds where the operator set nothing else for an account. */
  readonly limits: { readonly app: KeyLimits; readonly apiKey: KeyLimits }
}

/** What this service stands in front of, and where it is reached. */
export interface Deployment {
  /** Where calls are made: addresses are built on it. */
  readonly publicUrl: string
  /** Where the dashboard and `/api` are reached. @default publicUrl */
  readonly controlUrl?: string | undefined
  readonly chain: {
    readonly name: string
    readonly symbol: string
    readonly aliases: readonly string[]
    readonly chainIds: Readonly<Record<Network, number>>
  }
}

/** Something failed that is not the caller's fault. */
export interface ControlFault {
  readonly event: 'controlFault'
  /** Of the last request that failed so. */
  readonly requestId: string
  readonly route: RouteName | 'other'
  readonly error: string
  /** How many faults the entry reports: each `error` is logged at most once a second. */
  readonly count: number
}

/** What the control API tells of its work. Holds no key, no token, and nothing that was sent. */
export type ControlLogEntry =
  | {
      readonly event: 'control'
      readonly requestId: string
      /** Such as `GET /api/apps/{appId}`; `other` where there is no such route. */
      readonly route: RouteName | 'other'
      readonly status: number
      /** The code of the rejection, if it was rejected. */
      readonly code?: string
      readonly userId?: string
      readonly durationMs: number
    }
  | ControlFault

/** What the control API is made of. */
export interface ControlOptions {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly quota: Pick<Quota, 'usage'>
  readonly readMetrics: ReadMetrics
  /** The data plane's keys: told after each commit what they must forget. */
  readonly keys: { forget(changes: readonly Change[]): void }
  /** The newest first, then those that keys may still be sealed under. */
  readonly secrets: readonly [newest: ServerSecret, ...older: ServerSecret[]]
  /** Asked at each request, so that a new configuration acts at once. */
  readonly config: () => ControlConfig
  /** Asked at each request likewise. */
  readonly deployment: () => Deployment
  /** What does not work as it should now, as `/readyz` tells it. @default nothing */
  readonly degraded?: () => readonly string[]
  /** Told of each request. What it throws is ignored. */
  readonly log?: (entry: ControlLogEntry) => void
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}
