import type { StoredNodeTraffic } from '../usage/traffic/createNodeTraffic.ts'
import type { Problem } from '../alerts/findProblems.ts'
import type { sendWebhook, SendWebhookOptions } from '../alerts/sendWebhook.ts'
import type { Accounts, SignUpMode } from './account/accounts.ts'
import type { KeyLimits } from '../auth/key/keyStore.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import type { ReadActivity, ReadTraffic } from '../usage/metering/activity.ts'
import type { ReadMetrics } from '../usage/metering/metrics.ts'
import type { Network, NetworkDetails } from '../lib/network.ts'
import type { MethodWeights } from '../proxy/method/weights.ts'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'
import type { UsageLimits } from '../usage/limits/usageLimits.ts'
import type { Change } from '../storage/changes.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { Registries } from './publishedPackages.ts'
import type { InstanceView } from './contract/controlApi.d.ts'
import type { RouteName } from './contract/routeName.ts'

/** The part of the service's configuration that the control API uses. */
export interface ControlConfig {
  readonly signUp: SignUpMode
  /** Whether the service sends emails. @default false */
  readonly email?: boolean
  /** Whether users can log in by password. @default true */
  readonly passwordLogin?: boolean
  /** Who must have a second factor. @default nobody */
  readonly requireSecondFactor?: 'operators' | 'all' | undefined
  /** The OpenID Connect provider. @default none */
  readonly oidc?: { readonly label: string } | undefined
  /** Whether an encrypted copy of each new key is stored, so that the key can be revealed later. */
  readonly reveal: boolean
  /** Most apps an account can have. */
  readonly maxApps: number
  /** Where to look for Keyrail's packages. @default nowhere */
  readonly registries?: Registries
  /** Whether requests are recorded in the request log. @default true */
  readonly recordsRequests?: boolean
  /** Where Keyrail's documentation is. @default nowhere */
  readonly docsUrl?: string | undefined
  /** The limits of accounts for which the operator has set no others. */
  readonly limits: { readonly app: KeyLimits; readonly apiKey: KeyLimits }
  /** @default {} */
  readonly weights?: MethodWeights
  /** The limits on networks that have their own. @default none */
  readonly networks?: Readonly<Record<Network, NetworkUsageLimits>>
}

/** The limits on a network that has its own, for accounts for which the operator has set no others. */
export interface NetworkUsageLimits {
  readonly apps: KeyLimits
  readonly apiKeys: KeyLimits
  readonly weights: MethodWeights
}

/** The networks that the service gives access to, and the service's URLs. */
export interface Deployment {
  /** The base of all endpoint URLs. */
  readonly publicUrl: string
  /** The base of the dashboard and `/api`. @default publicUrl */
  readonly controlUrl?: string | undefined
  /** Titles and search words of chains, by name. Those that are missing have the title of a well-known chain, or their name. */
  readonly chains: Readonly<Record<string, { readonly title: string; readonly aliases: readonly string[] }>>
  readonly networks: Readonly<Record<Network, NetworkDetails>>
  /** Whether a network has a node for private transactions. @default false */
  readonly privateTransactions?: boolean
}

/** An internal error while handling a request. */
export interface ControlFault {
  readonly event: 'controlFault'
  /** The last request that failed with this error. */
  readonly requestId: string
  readonly route: RouteName | 'other'
  readonly error: string
  /** How many errors the entry covers: each `error` is logged at most once a second. */
  readonly count: number
}

/** A log entry of the control API. Contains no key, no token and nothing from the request. */
export type ControlLogEntry =
  | {
      readonly event: 'control'
      readonly requestId: string
      /** Such as `GET /api/apps/{appId}`; `other` if no route matches. */
      readonly route: RouteName | 'other'
      readonly status: number
      /** The error code of an error response. */
      readonly code?: string
      readonly userId?: string
      readonly durationMs: number
    }
  | ControlFault

/** The dependencies of the control API. */
export interface ControlOptions {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly usageLimits: Pick<UsageLimits, 'usage'>
  readonly readMetrics: ReadMetrics
  readonly readActivity: ReadActivity
  readonly readTraffic: ReadTraffic
  /** The data plane's key cache, invalidated after each commit. */
  readonly keys: { forget(changes: readonly Change[]): void }
  /** Removes the requests of deleted apps and keys from the request log. */
  readonly requestRecorder: { remove(keyIds: readonly string[]): Promise<void> }
  /** The newest secret first, then older ones that may still encrypt stored keys. */
  readonly secrets: readonly [newest: ServerSecret, ...older: ServerSecret[]]
  /** Called for each request, so a new configuration applies immediately. */
  readonly config: () => ControlConfig
  /** Called for each request. */
  readonly deployment: () => Deployment
  /** The current problems, as `/readyz` reports them. @default none */
  readonly degraded?: () => readonly string[]
  /** The nodes, as this instance sees them. @default none */
  readonly upstreams?: () => readonly UpstreamState[]
  /** Reads the state of this instance. */
  readonly readInstance: () => Promise<InstanceView>
  /** Finds the problems of the service, as this instance sees them. @default none */
  readonly readProblems?: () => Promise<readonly Problem[]>
  /** What nodes were sent by day. @default nothing */
  readonly readUpstreamDays?: StoredNodeTraffic['readDays']
  /** How a test event is sent to a webhook, and which URLs are allowed. */
  readonly webhooks: { readonly options: () => SendWebhookOptions; readonly send: typeof sendWebhook }
  /** Called for each request. Its errors are ignored. */
  readonly log?: (entry: ControlLogEntry) => void
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}
