import type { Transport } from '../transport/transport.ts'

/**
 * Reads the block of a header that was just reported: never another block of that number, and without another call of an application. If the chain
 * was reorganized since, it is the next block of the new branch.
 */
export type ReadBlock = (transactions: 'hashes' | 'full') => Promise<unknown>

/** Receives what a subscription reports. An error that it throws is an unhandled rejection, and the subscription continues. */
export interface NodeSubscriptionListener {
  /**
   * Receives a header, a log, the hash of a transaction or a transaction, or a syncing status: `result` of an `eth_subscription` notification.
   *
   * @param readBlock - Reads the whole block of a header. To be called at once, if at all, and always for the same form of `transactions`.
   * @returns A promise, to get the next result only when it is fulfilled.
   */
  readonly onResult: (result: unknown, readBlock: ReadBlock | undefined) => unknown
  /** The subscription has ended with a failure that is not retryable. */
  readonly onError: (error: unknown) => void
}

/** A subscription that can be paused and started again. */
export interface NodeSubscriber {
  /** Subscribes to what comes after the head of this moment. Failures are reported to `onError`. */
  readonly start: () => void
  readonly stop: () => void
  /** Reports nothing until `resume`, and then what has happened in between; with `drop`, only what comes after `resume`. */
  readonly pause: (drop?: boolean) => void
  readonly resume: () => void
}

/** The subscriptions of one EIP-1193 provider. */
export interface ProviderSubscriptions {
  /** Runs `eth_subscribe` and `eth_unsubscribe`. Returns undefined for other methods. */
  readonly request: (method: string, params: unknown) => Promise<unknown> | undefined
  /** Adds a listener. There are `message`, for each notification, and `disconnect`, with the failure that ended a subscription. */
  readonly on: (event: string, listener: (value: never) => void) => void
  readonly once: (event: string, listener: (value: never) => void) => void
  readonly removeListener: (event: string, listener: (value: never) => void) => void
  readonly removeAllListeners: (event?: string) => void
  /** Ends all subscriptions. */
  readonly close: () => void
}

/** The arguments of {@link WatcherSubscriptions}' `subscribe`, as the watchers of viem pass them. */
export interface WatchOptions {
  readonly params: readonly unknown[]
  readonly onData: (data: { readonly subscription: string; readonly result: unknown }) => unknown
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The subscriptions of one transport of viem. */
export interface WatcherSubscriptions {
  readonly subscribe: (
    watch: WatchOptions,
  ) => Promise<{ readonly subscriptionId: string; readonly unsubscribe: () => Promise<{ readonly result: boolean }> }>
  /**
   * Reads the block of the header that a watcher is being called with. `watchBlocks` reads it by its number, which may be that of another block by
   * now. Returns undefined for all other calls.
   */
  readonly readReported: (method: string, params: unknown) => Promise<unknown> | undefined
}

/**
 * `eth_subscribe` and `eth_unsubscribe` as a node has them, for libraries that know no other subscriptions. Unlike those of a node they continue
 * through reconnects and failures, and miss nothing: after a reorganization the heads of the new branch follow, and removed logs come first, newest
 * first, with `removed: true`.
 */
export interface NodeSubscriptions {
  /**
   * Subscribes to what comes after the head of this moment; if the head cannot be read, after the head at the time when it can.
   *
   * @param params - `['newHeads']`, `['logs', filter]`, `['newPendingTransactions']`, with `true` for whole transactions, or `['syncing']`.
   * @returns The id, before anything is reported.
   * @throws {KeyrailError} kind `invalidRequest` for other params; a failure to read the head that is not retryable.
   */
  readonly subscribe: (params: readonly unknown[], listener: NodeSubscriptionListener) => Promise<string>
  /** Ends a subscription. @returns Whether it existed. Its listener is not called any more. */
  readonly unsubscribe: (id: unknown) => boolean
  /** Creates a subscription that has not been started. */
  readonly createSubscriber: (params: readonly unknown[], listener: NodeSubscriptionListener) => NodeSubscriber
  /** Creates the subscriptions of a transport of viem. `toError` converts a failure of `eth_subscribe`. */
  readonly createWatcherSubscriptions: (
    toError: (error: unknown, call: { readonly method: string; readonly params: unknown }) => unknown,
  ) => WatcherSubscriptions
  /** Creates the subscriptions of an EIP-1193 provider. */
  readonly createProviderSubscriptions: () => ProviderSubscriptions
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
