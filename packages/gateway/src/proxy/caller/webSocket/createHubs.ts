import type { Network } from '../../../lib/network.ts'
import type { LogEntry } from '../../log.ts'
import type { NetworkOptions } from '../../options/networkOptions.ts'
import type { WebSocketOptions } from '../../options/webSocketOptions.ts'
import type { NetworkHub, NetworkHubOptions } from '../../subscription/createNetworkHub.ts'
import type { SubscriptionHub, SubscriptionKind } from '../../subscription/subscriptionHub.ts'
import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'

/** Creates the subscriptions of a network. */
export type CreateHub = (options: NetworkHubOptions) => SubscriptionHub & Partial<NetworkHub>

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

/** The options of hubs. A reload changes the results of the functions. */
export interface HubsOptions {
  readonly createHub: CreateHub
  readonly getGroup: (network: Network) => UpstreamGroup | undefined
  readonly getNetwork: (network: Network) => NetworkOptions | undefined
  readonly webSocket: () => WebSocketOptions
  /** How many bytes the process may buffer. */
  readonly maxBufferedBytes: () => number
  readonly log: (entry: LogEntry) => void
}

/** Creates the subscriptions of a gateway: none before they are needed. */
export const createHubs = (options: HubsOptions): Hubs => {
  const { createHub, getGroup, getNetwork, webSocket, log } = options
  const hubs = new Map<Network, SubscriptionHub & Partial<NetworkHub>>()
  const close = (network: Network): void => {
    hubs.get(network)?.close()
    hubs.delete(network)
  }
  return {
    get: (network) => {
      if (!webSocket().enabled || getGroup(network) === undefined) return undefined
      const known = hubs.get(network)
      if (known !== undefined) return known
      const hub = createHub({
        network,
        getGroup: () => getGroup(network),
        getNetwork: () => getNetwork(network),
        getLimits: webSocket,
        maxBufferedBytes: options.maxBufferedBytes,
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
