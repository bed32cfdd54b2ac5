import { randomBytes } from 'node:crypto'
import type { Network } from '../../lib/network.ts'
import type { LogEntry } from '../log.ts'
import type { NetworkOptions } from '../options/networkOptions.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import { createChainFollower } from './chain/createChainFollower.ts'
import { createRenewableSource } from './createRenewableSource.ts'
import { createSubscriptionHub } from './hub/createSubscriptionHub.ts'
import { createNodeSource } from './node/createNodeSource.ts'
import { createTransactionReader } from './node/createTransactionReader.ts'
import type { ReadBounds } from './ownReads.ts'
import type { SubscriptionHub, SubscriptionLimits } from './subscriptionHub.ts'

/** The subscriptions of a network, with the follower of its chain. */
export interface NetworkHub extends SubscriptionHub {
  /** Call this when a reload has replaced the nodes of the network. */
  readonly renew: () => void
  /** How many blocks had logs that were delivered although nothing confirmed that they are complete. */
  readonly incompleteBlocks: () => number
}

/** Options of a network's hub. A reload changes what the functions return. */
export interface NetworkHubOptions {
  readonly network: Network
  readonly getGroup: () => UpstreamGroup | undefined
  readonly getNetwork: () => NetworkOptions | undefined
  readonly getLimits: () => SubscriptionLimits
  /** How many bytes the process may buffer. */
  readonly maxBufferedBytes: () => number
  readonly log: (entry: LogEntry) => void
}

/** Creates the subscriptions of a network. */
export type CreateHub = (options: NetworkHubOptions) => SubscriptionHub & Partial<NetworkHub>

/** Ids of subscriptions are derived from it, so that they are the same on all connections of this process, and cannot be guessed. */
const secret = randomBytes(32)

/** Creates the subscriptions of a network. Nothing is read from a node before the first one. */
export const createNetworkHub = (options: NetworkHubOptions): NetworkHub => {
  const { network, getGroup, getNetwork, getLimits, log } = options
  const bounds: ReadBounds = {
    get timeoutMs() {
      return getNetwork()?.bounds.upstreamTimeoutMs ?? 0
    },
    get maxResponseBytes() {
      return getNetwork()?.bounds.maxResponseBytes ?? 0
    },
    get maxBufferedBytes() {
      return options.maxBufferedBytes()
    },
  }
  let incompleteBlocks = 0

  const source = createRenewableSource(() => {
    const group = getGroup()
    const upstreams = getNetwork()?.upstreams.filter(({ privateTransactions }) => !privateTransactions)
    return group === undefined || upstreams === undefined ? undefined : createNodeSource({ group, upstreams, log })
  })
  const follower = createChainFollower(getGroup, {
    bounds,
    checkLogs: () => getNetwork()?.checkLogs ?? true,
    onHead: source.onHead,
    onFault: (reason) => hub.fail(reason),
    onIncompleteLogs: () => {
      incompleteBlocks += 1
    },
  })

  const readTransactions = createTransactionReader(getGroup, bounds)

  const hub = createSubscriptionHub({ network, follower, source, getLimits, secret, readTransactions })
  return {
    ...hub,
    renew: source.renew,
    incompleteBlocks: () => incompleteBlocks,
    close: () => {
      hub.close()
      source.close()
    },
  }
}
