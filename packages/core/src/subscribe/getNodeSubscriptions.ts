import type { Transport } from '../transport/transport.ts'

/** Receives what a subscription reports. Must not throw. */
export interface NodeSubscriptionListener {
  /** A header, a log, the hash of a transaction or a transaction, or a syncing status: `result` of an `eth_subscription` notification. */
  readonly onResult: (result: unknown) => void
  /** The subscription has ended with a failure that is not retryable. */
  readonly onError: (error: unknown) => void
}

/**
 * `eth_subscribe` and `eth_unsubscribe` as a node has them, for libraries that know no other subscriptions. Unlike those of a node they continue
 * through reconnects and failures, and miss nothing: after a reorganization the heads of the new branch follow, and removed logs come first, newest
 * first, with `removed: true`.
 */
export interface NodeSubscriptions {
  /**
   * Subscribes to what comes after the head of this moment.
   *
   * @param params - `['newHeads']`, `['logs', filter]`, `['newPendingTransactions']`, with `true` for whole transactions, or `['syncing']`.
   * @returns The id, before anything is reported.
   * @throws {KeyrailError} kind `invalidRequest` for other params; the failure of reading the head.
   */
  readonly subscribe: (params: readonly unknown[], listener: NodeSubscriptionListener) => Promise<string>
  /** Ends a subscription. @returns Whether it existed. Its listener is not called any more. */
  readonly unsubscribe: (id: unknown) => boolean
  /** Ends all subscriptions. */
  readonly close: () => void
}

const subscriptions = /* @__PURE__ */ new WeakMap<Transport, NodeSubscriptions>()

/**
 * Returns the subscriptions of a transport, for an adapter.
 *
 * @param transport - A transport.
 * @returns Undefined if the transport was created without `webSocket`: then the library polls.
 */
export const getNodeSubscriptions = (transport: Transport): NodeSubscriptions | undefined =>
  subscriptions.get(transport)

/** Lets {@link getNodeSubscriptions} find the subscriptions of a transport. A bundle has these only if it has `webSocket`. */
export const setNodeSubscriptions = (transport: Transport, created: NodeSubscriptions): void => {
  subscriptions.set(transport, created)
}
