import type { Network } from '../../lib/network.ts'
import type { GatewayConfig } from '../gatewayOptions.ts'
import type { NetworkBounds } from '../options/bounds.ts'
import { createMethodPolicy } from '../method/createMethodPolicy.ts'
import type { DevelopmentMethods, MethodPolicy } from '../method/createMethodPolicy.ts'
import { notificationMethod } from '../../usage/metering/meter.ts'
import { getDefaultWeight } from '../method/weights.ts'
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
  /** Whether a call can ask for confirmation by a header. */
  readonly confirmByCallers: boolean
}

/** Creates the contexts of all networks. Those without weights and methods of their own share a policy. */
export const createNetworkContexts = (
  { networks, services, bounds, weights: defaultWeights }: GatewayConfig,
  groups: ReadonlyMap<Network, UpstreamGroup>,
  developmentMethods: DevelopmentMethods | undefined,
): ReadonlyMap<Network, NetworkContext> => {
  const shared = { ...services, developmentMethods, weights: defaultWeights }
  const policy = createMethodPolicy(shared)
  const contexts = new Map<Network, NetworkContext>()
  for (const [network, group] of groups) {
    const {
      bounds: limits = bounds,
      weights,
      methodPresets: presets = [],
      methods: own = {},
      confirm = [],
      confirmByCallers = false,
      upstreams = [],
      cacheTraces: traces = false,
    } = networks.get(network) ?? {}
    const ownWeights = weights ?? defaultWeights
    const privateNodes = upstreams.filter((node) => node.privateTransactions).map(({ name }) => name)
    const hasOwnPolicy =
      weights !== undefined || presets.length > 0 || Object.keys(own).length > 0 || confirm.length > 0 || traces
    contexts.set(network, {
      group,
      limits,
      policy: hasOwnPolicy
        ? createMethodPolicy({ ...shared, weights: ownWeights, presets, own, privateNodes, confirm, traces })
        : policy,
      hasWeights: Object.keys(ownWeights).length > 0,
      notificationWeight: ownWeights[notificationMethod] ?? getDefaultWeight(notificationMethod),
      confirmByCallers,
    })
  }
  return contexts
}
