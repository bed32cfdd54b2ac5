import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { networkName } from './networks.ts'

/** How many nodes of a network are in each state, as this instance sees them. */
export interface NodeCounts {
  /** Reachable, on the right chain, up to date, and without an open circuit breaker. Includes nodes that are throttled or over their budget. */
  readonly healthy: number
  /** Syncing, or too far behind the other nodes. */
  readonly lagging: number
  /** Unreachable, on the wrong chain, or failing. */
  readonly down: number
}

/** The status of a network. */
export interface NetworkStatusView {
  readonly network: Network
  readonly nodes: NodeCounts
}

/** The status of each network, in the order of the config. */
export interface NetworkStatusesView {
  readonly networks: readonly NetworkStatusView[]
}

const networkStatus = z
  .strictObject({
    network: networkName,
    nodes: z.strictObject({ healthy: z.int(), lagging: z.int(), down: z.int() }),
  })
  .meta({ id: 'NetworkStatus' })

/** The schema of `NetworkStatusesView`. */
export const networkStatusesView: z.ZodType<NetworkStatusesView> = z.strictObject({ networks: z.array(networkStatus) })
