import type { Network } from '../../../lib/network.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { CreateHub } from '../../subscription/createNetworkHub.ts'
import type { SubscriptionHub, SubscriptionKind } from '../../subscription/subscriptionHub.ts'
import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'

/** The subscriptions of all networks now. */
export interface HubsState {
  /** By network and kind. */
  readonly subscriptions: ReadonlyMap<Network, Readonly<Record<SubscriptionKind, number>>>
  /** How many blocks had logs that were delivered although nothing confirmed that they are complete, by network. */
  readonly incompleteBlocks: ReadonlyMap<Network, number>
}

/** The subscriptions of all networks. They survive a reload. */
export interface Hubs {
  /** Gets those of a network, and creates them the first time; `undefined` if there are no WebSockets or no such network. */
  readonly get: (network: Network) => SubscriptionHub | undefined
  /** Call this when a reload has replaced the nodes of a network. */
  readonly renew: (network: Network) => void
  /** Ends those of a network. */
  readonly close: (network: Network) => void
  readonly closeAll: () => void
  readonly state: () => HubsState
}

/** Creates the subscriptions of a gateway: none before they are needed. @param getGateway - Gets the current context, which a reload replaces. */
export const createHubs = (createHub: CreateHub, getGateway: () => GatewayContext): Hubs => {
  const hubs = new Map<Network, ReturnType<CreateHub>>()
  const getGroup = (network: Network): UpstreamGroup | undefined => getGateway().networks.get(network)?.group
  const close = (network: Network): void => {
    hubs.get(network)?.close()
    hubs.delete(network)
  }
  return {
    get: (network) => {
      const { config, log } = getGateway()
      if (!config.webSocket.enabled || getGroup(network) === undefined) return undefined
      const known = hubs.get(network)
      if (known !== undefined) return known
      const hub = createHub({
        network,
        getGroup: () => getGroup(network),
        getNetwork: () => getGateway().config.networks.get(network),
        getLimits: () => getGateway().config.webSocket,
        maxBufferedBytes: () => getGateway().limits.maxBufferedBytes,
        log,
      })
      hubs.set(network, hub)
      return hub
    },
    renew: (network) => hubs.get(network)?.renew?.(),
    close,
    closeAll: () => {
      for (const network of hubs.keys()) close(network)
    },
    state: () => ({
      subscriptions: new Map([...hubs].map(([network, hub]) => [network, hub.counts()])),
      incompleteBlocks: new Map([...hubs].map(([network, hub]) => [network, hub.incompleteBlocks?.() ?? 0])),
    }),
  }
}
