import { startTimer } from '../clock/startTimer.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import type { RpcSocket } from '../socket/rpcSocket.ts'
import type { SocketNotification } from '../socket/socketCall.ts'
import { createApplyNotification } from './applyNotifications.ts'
import { toQuantity } from './chainBlock.ts'
import type { ChainSource } from './chainSource.ts'
import { createNotificationQueue } from './notificationQueue.ts'
import type { RecentChain } from './recentChain.ts'
import type { AnyEvent } from './reportBlock.ts'

/** How many notifications wait for a slow consumer before the subscription is ended. */
const mostWaiting = 4_096
/** How many hashes are sent: Keyrail's service finds its place by the last 128 blocks. */
const mostHashes = 128

/** The position at which the stream starts follows the response at once. A server that sends none in this time has ignored the cursor. In milliseconds. */
const startsWithinMs = 5_000

/** Options of {@link followSocket}. */
export interface SocketOptions {
  readonly socket: RpcSocket
  readonly chain: RecentChain
  readonly source: ChainSource
  readonly reorgDepth: number
  readonly signal: AbortSignal
  /** Called when the service has accepted the cursor. */
  readonly onStart: () => void
}

/**
 * Subscribes at a service of Keyrail with the chain as the cursor, and reports what it sends. It ends when the consumer was too slow: then it can be
 * called again.
 *
 * @throws {KeyrailError} The failure of `eth_subscribe` or of the connection.
 */
export async function* followSocket(options: SocketOptions): AsyncGenerator<AnyEvent, void, undefined> {
  const { socket, chain, source, reorgDepth, signal, onStart } = options
  const queue = createNotificationQueue<SocketNotification>(mostWaiting, signal)
  const what = source.logs ? ['logs', source.logs] : ['newHeads']
  let started = false
  const onNotification = (notification: SocketNotification): void => {
    if (!started && notification.position === undefined) queue.fail(ignoredCursor())
    else if (!queue.push(notification)) subscription.unsubscribe()
    started = true
  }
  const subscription = await socket.subscribe(
    [...what, { cursor: toWireCursor(chain) }],
    { onNotification, onEnd: queue.fail },
    signal,
  )
  const timer = startTimer(() => {
    if (!started) queue.fail(ignoredCursor())
  }, startsWithinMs)
  const apply = createApplyNotification(chain, source, reorgDepth)
  try {
    for (let first = true; ; first = false) {
      const notification = await queue.take()
      if (!notification) return
      yield* apply(notification)
      if (first) onStart()
    }
  } finally {
    clearTimeout(timer)
    subscription.unsubscribe()
  }
}

const toWireCursor = (chain: RecentChain): object | null => {
  const newest = chain.newest()
  if (!newest) return null
  const hashes = chain.blocks.slice(-mostHashes).map(({ hash }) => hash)
  return { number: toQuantity(newest.number), hashes: hashes.reverse() }
}

/** Creates the error for a server that accepts the cursor, and subscribes without it. */
const ignoredCursor = (): KeyrailError =>
  new KeyrailError('the server does not know the cursor of eth_subscribe', {
    kind: 'methodUnavailable',
    source: 'service',
    retryable: false,
    method: 'eth_subscribe',
  })

const hasCode = (error: unknown, ...codes: readonly number[]): boolean =>
  isKeyrailError(error) && codes.includes(error.rpcError?.code ?? 0)

/** Kinds of failure with which servers without cursors, or without subscriptions, reject `eth_subscribe`: with any code, such as -32006 and -32608. */
const unsupportedKinds: ReadonlySet<FailureKind> = new Set(['methodUnavailable', 'invalidRequest', 'unknown'])

/** Whether the server does not know cursors, or no subscriptions at all. */
export const isUnsupported = (error: unknown): boolean =>
  isKeyrailError(error, 'methodUnavailable') ||
  hasCode(error, -32_601, -32_602) ||
  (isKeyrailError(error) && error.rpcError !== undefined && !isCursorTooOld(error) && unsupportedKinds.has(error.kind))

/** Whether the service has none of the cursor's blocks among its recent ones. */
export const isCursorTooOld = (error: unknown): boolean => hasCode(error, -32_001)
