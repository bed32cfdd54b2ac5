import type { GatewayLimits, GatewayOptions } from '../gatewayOptions.ts'
import type { Connections } from '../http/connections.ts'
import type { KeyStore } from '../key/keyStore.ts'
import type { LogEntry } from '../log.ts'
import type { MethodPolicy } from '../method/createMethodPolicy.ts'
import type { Network } from '../network.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'

/** What answering needs of the gateway. */
export interface Answering {
  readonly groups: Readonly<Record<Network, UpstreamGroup>>
  readonly keys: KeyStore
  readonly policy: MethodPolicy
  readonly limits: Required<GatewayLimits>
  readonly connections: Connections
  readonly draining: () => boolean
  readonly elsewhere: GatewayOptions['elsewhere']
  readonly degraded: () => readonly string[]
  /** Requests that were begun under these options and are still under way. */
  underWay: number
  readonly log: (entry: LogEntry) => void
}
