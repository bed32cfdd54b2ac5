import { randomBytes } from 'node:crypto'
import type { Network } from '../../lib/network.ts'
import type { LogEntry } from '../log.ts'
import type { NetworkOptions } from '../options/networkOptions.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import { forwardCall } from '../upstream/forwardCall.ts'
import { createChainFollower } from './chain/createChainFollower.ts'
import { createRenewableSource } from './createRenewableSource.ts'
import { createSubscriptionHub } from './hub/createSubscriptionHub.ts'
import { createNodeSource } from './node/createNodeSource.ts'
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
  readonly limits: SubscriptionLimits
  readonly log: (entry: LogEntry) => void
}

/** Ids of subscriptions are derived from it, so that they are the same on all connections of this process, and cannot be guessed. */
const secret = randomBytes(32)

/** The calls of all subscriptions of a network wait in a queue of their own, beside those of keys. */
const holder = { keyId: 'subscriptions', ownerId: 'subscriptions' }
const transactionCall = {
  method: 'eth_getTransactionByHash',
  traits: { idempotent: true, expensive: false, weight: 1, label: 'eth_getTransactionByHash' },
} as const

/** Creates the subscriptions of a network. Nothing is read from a node before the first one. */
export const createNetworkHub = (options: NetworkHubOptions): NetworkHub => {
  const { network, getGroup, getNetwork, limits, log } = options
  const { upstreamTimeoutMs = 0, maxResponseBytes = 0 } = getNetwork()?.bounds ?? {}
  let incompleteBlocks = 0

  const source = createRenewableSource(() => {
    const group = getGroup()
    const upstreams = getNetwork()?.upstreams
    return group === undefined || upstreams === undefined ? undefined : createNodeSource({ group, upstreams, log })
  })
  const follower = createChainFollower(getGroup, {
    timeoutMs: upstreamTimeoutMs,
    maxResponseBytes,
    checkLogs: getNetwork()?.checkLogs,
    onHead: source.onHead,
    onFault: (reason) => hub.fail(reason),
    onIncompleteLogs: () => {
      incompleteBlocks += 1
    },
  })

  /** Reads transactions one by one: a node that lacks one of them has others. */
  const readTransactions = (hashes: readonly string[], done: (transactions: readonly string[]) => void): void => {
    const group = getGroup()
    const found: string[] = []
    let left = hashes.length
    if (group === undefined || left === 0) {
      done([])
      return
    }
    for (const hash of hashes) {
      const call = { ...transactionCall, params: `["${hash}"]` }
      const budget = { left: maxResponseBytes }
      const forwarding = { group, ...holder, timeoutMs: upstreamTimeoutMs, budget, maxResponseBytes }
      forwardCall(call, forwarding, (result) => {
        const text = 'value' in result && result.member === 'result' ? result.value.toString() : 'null'
        if (text !== 'null') found.push(text)
        left -= 1
        if (left === 0) done(found)
      })
    }
  }

  const hub = createSubscriptionHub({ network, follower, source, limits, secret, readTransactions })
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
