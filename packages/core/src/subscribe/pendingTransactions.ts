import { now } from '../clock/now.ts'
import { pause } from '../clock/pause.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { Hash } from '../schema/hex.ts'
import type { RpcSocket } from '../socket/rpcSocket.ts'
import type { SocketNotification } from '../socket/socketCall.ts'
import type { CallOptions } from '../transport/call/call.ts'
import type { Transport } from '../transport/transport.ts'
import { malformed } from './chainBlock.ts'
import { isUnsupported } from './followSocket.ts'
import { createNotificationQueue } from './notificationQueue.ts'
import type { Recovery } from './recovery.ts'
import type { TransactionEvent } from './subscription.ts'

/** How many hashes wait for a slow consumer before the subscription of a socket is ended. */
const mostWaiting = 16_384

/** Options of {@link followPendingTransactions}. */
export interface PendingOptions {
  readonly transport: Transport
  /** The failure handling of polls. */
  readonly recovery: Recovery
  /** The same of the socket. */
  readonly socketRecovery: Recovery
  /** The options of each call. */
  readonly callOptions: CallOptions & { readonly signal: AbortSignal }
  /** The interval between polls, in milliseconds. @default 1_000 */
  readonly intervalMs: number | undefined
}

/**
 * Reports the transactions that enter the pool: over a socket if the server has subscriptions, and by polling while there is no connection.
 *
 * @param options - How to read them.
 * @param socket - The connections, if the transport has any.
 */
export async function* followPendingTransactions(
  options: PendingOptions,
  socket: RpcSocket | undefined,
): AsyncGenerator<TransactionEvent, void, undefined> {
  const { socketRecovery, callOptions } = options
  while (socket) {
    try {
      yield* readPendingTransactions(socket, socketRecovery, callOptions.signal)
    } catch (error) {
      if (isUnsupported(error)) break
      yield* pollBetweenConnections(options, socketRecovery.failed(error))
    }
  }
  yield* pollPendingTransactions(options)
}

/** Polls for `ms` milliseconds. A server that has no filters is given this time to accept connections again. */
async function* pollBetweenConnections(
  options: PendingOptions,
  ms: number,
): AsyncGenerator<TransactionEvent, void, undefined> {
  const until = now() + ms
  try {
    yield* pollPendingTransactions(options, until)
  } catch (error) {
    if (!isUnsupported(error)) throw error
    await pause(Math.max(until - now(), 0), options.callOptions.signal)
  }
}

/** Reports transactions until the connection fails or the consumer was too slow. */
async function* readPendingTransactions(
  socket: RpcSocket,
  recovery: Recovery,
  signal: AbortSignal,
): AsyncGenerator<TransactionEvent, void, undefined> {
  const queue = createNotificationQueue<SocketNotification>(mostWaiting, signal)
  const onNotification = (notification: SocketNotification): void => {
    if (!queue.push(notification)) subscription.unsubscribe()
  }
  const subscription = await socket.subscribe(['newPendingTransactions'], { onNotification, onEnd: queue.fail }, signal)
  recovery.succeeded()
  try {
    for (let one = await queue.take(); one; one = await queue.take())
      yield { type: 'transaction', hash: one.result as Hash }
  } finally {
    subscription.unsubscribe()
  }
}

/** How often a filter is polled, in milliseconds. */
const defaultIntervalMs = 1_000

/**
 * Reports transactions by polling a filter on the node, until the time `until`. Nodes delete filters that are not polled for some minutes; then a
 * new one is created, and transactions in between are missed.
 */
async function* pollPendingTransactions(
  { transport, recovery, callOptions: options, intervalMs = defaultIntervalMs }: PendingOptions,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<TransactionEvent, void, undefined> {
  // A filter exists on one node only.
  const group = (transport as Transport & { readonly group?: () => Transport }).group?.() ?? transport
  let filter: unknown
  try {
    for (;;) {
      let waitMs = intervalMs
      let hashes: unknown = []
      try {
        if (filter === undefined)
          filter = await group.request({ method: 'eth_newPendingTransactionFilter', params: [] }, options)
        else hashes = await group.request({ method: 'eth_getFilterChanges', params: [filter] }, options)
        if (!Array.isArray(hashes)) throw malformed('the result of eth_getFilterChanges', 'an array')
        recovery.succeeded()
      } catch (error) {
        if (filter === undefined || !isLostFilter(error)) waitMs = recovery.failed(error)
        else {
          filter = undefined
          waitMs = 0
        }
      }
      for (const hash of hashes as Hash[]) yield { type: 'transaction', hash }
      const leftMs = until - now()
      if (leftMs <= 0) return
      await pause(Math.min(waitMs, leftMs), options.signal)
    }
  } finally {
    if (group !== transport) group.close()
  }
}

/** Whether the node does not know the filter, or no longer: nodes use the codes -32000 and -32602 for it. */
const isLostFilter = (error: unknown): boolean => isKeyrailError(error) && /filter/i.test(error.rpcError?.message ?? '')
