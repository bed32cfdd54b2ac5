import type { Network } from '../../lib/network.ts'
import type { GatewayConfig } from '../gatewayOptions.ts'
import type { NetworkBounds } from '../options/bounds.ts'
import { createMethodPolicy } from '../method/createMethodPolicy.ts'
import type { MethodPolicy } from '../method/createMethodPolicy.ts'
import { notificationMethod } from '../../usage/metering/meter.ts'
import { getDefaultWeight } from '../method/weights.ts'
import type { MethodWeights } from '../method/weights.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'

/** The parts of the gateway that requests to one network share. */
export interface NetworkContext {
  readonly group: UpstreamGroup
  readonly limits: NetworkBounds
  /** The methods that may be called, and their weights. */
  readonly policy: MethodPolicy
  /** Whether calls of some methods count as more than one request. Responses then have `X-RateLimit-Cost`. */
  readonly hasWeights: boolean
  /** How many units of a quota a notification of a subscription counts as; 0: none. */
  readonly notificationWeight: number
}

/** Creates the contexts of all networks. Those without weights of their own share a policy. */
export const createNetworkContexts = (
  { networks, services, bounds, weights: defaultWeights }: GatewayConfig,
  groups: ReadonlyMap<Network, UpstreamGroup>,
  unsafeNodeMethods: boolean,
): ReadonlyMap<Network, NetworkContext> => {
  const createPolicy = (weights: MethodWeights): MethodPolicy =>
    createMethodPolicy({ ...services, unsafeNodeMethods, weights })
  const policy = createPolicy(defaultWeights)
  const contexts = new Map<Network, NetworkContext>()
  for (const [network, group] of groups) {
    const { bounds: limits = bounds, weights } = networks.get(network) ?? {}
    const ownWeights = weights ?? defaultWeights
    contexts.set(network, {
      group,
      limits,
      policy: weights === undefined ? policy : createPolicy(weights),
      hasWeights: Object.keys(ownWeights).length > 0,
      notificationWeight: ownWeights[notificationMethod] ?? getDefaultWeight(notificationMethod),
    })
  }
  return contexts
}
