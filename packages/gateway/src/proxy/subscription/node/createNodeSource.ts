import { createRecentMap } from '../../../lib/createRecentMap.ts'
import type { RecentMap } from '../../../lib/createRecentMap.ts'
import type { UpstreamOptions } from '../../options/upstreamOptions.ts'
import type { LogEntry } from '../../log.ts'
import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'
import type { NodeSource } from '../nodeSource.ts'
import { createListeners } from './createListeners.ts'
import { createNodeSocket } from './createNodeSocket.ts'
import type { NodeTopic } from './openSession.ts'
import { pollPendingTransactions } from './pollPendingTransactions.ts'
import { pollSyncing } from './pollSyncing.ts'

/** Times of a node source, in milliseconds. */
export interface NodeSourceTimes {
  /** How long a handshake or a request may take. */
  readonly timeoutMs: number
  /** After this long without a message, a node's WebSocket is sent a request. */
  readonly silenceMs: number
  /** The longest wait before a WebSocket is opened again the first time. */
  readonly firstRetryMs: number
  /** How often pending transactions are polled. */
  readonly pendingIntervalMs: number
  /** How often `eth_syncing` is polled. */
  readonly syncingIntervalMs: number
}

/** The default times. */
export const defaultNodeSourceTimes: NodeSourceTimes = Object.freeze({
  timeoutMs: 10_000,
  silenceMs: 15_000,
  firstRetryMs: 1_000,
  pendingIntervalMs: 1_000,
  syncingIntervalMs: 5_000,
})

/** Options of a node source. */
export interface NodeSourceOptions {
  /** Chooses the node that is polled. */
  readonly group: Pick<UpstreamGroup, 'network' | 'chainId' | 'pick'>
  /** The nodes of the group. */
  readonly upstreams: readonly Pick<UpstreamOptions, 'name' | 'wsUrl' | 'headers'>[]
  readonly log: (entry: LogEntry) => void
  /** @default `defaultNodeSourceTimes` */
  readonly times?: Partial<NodeSourceTimes>
}

/** Several minutes of a busy network: nodes report a transaction within seconds of each other. */
const maxSeenHashes = 100_000
const hashPattern = /^0x[0-9a-f]{64}$/

/**
 * Creates the source of the notifications of nodes. There is one WebSocket to each node with a URL for it, from all of which heads and
 * pending transactions are taken. Pending transactions are polled while no WebSocket delivers them. Without listeners, it sends nothing.
 */
export const createNodeSource = ({ group, upstreams, log, times: given }: NodeSourceOptions): NodeSource => {
  const times = { ...defaultNodeSourceTimes, ...given }
  let seenHashes: RecentMap<true> | undefined
  let stopPendingPoll: (() => void) | undefined
  let stopSyncingPoll: (() => void) | undefined

  const deliverPending = (given: readonly unknown[]): void => {
    if (seenHashes === undefined) return
    const hashes: string[] = []
    for (const value of given) {
      const hash = typeof value === 'string' ? value.toLowerCase() : ''
      if (!hashPattern.test(hash) || seenHashes.get(hash) === true) continue
      seenHashes.set(hash, true)
      hashes.push(hash)
    }
    if (hashes.length > 0) pending.emit(hashes)
  }
  const sockets = upstreams.flatMap(({ name, wsUrl, headers }) =>
    wsUrl === undefined
      ? []
      : createNodeSocket({
          ...times,
          url: wsUrl,
          headers,
          chainId: group.chainId,
          onNotification: (topic, result) => {
            if (topic === 'newHeads') heads.emit()
            else deliverPending([result])
          },
          onState: (state) => log({ event: 'nodeSocket', network: group.network, upstream: name, state }),
        }),
  )
  const update = (): void => {
    const topics = new Set<NodeTopic>()
    if (heads.size() > 0) topics.add('newHeads')
    if (pending.size() > 0) topics.add('newPendingTransactions')
    for (const socket of sockets) socket.setTopics(topics)
  }
  const startPending = (): void => {
    seenHashes = createRecentMap(maxSeenHashes)
    stopPendingPoll = pollPendingTransactions(
      {
        group,
        timeoutMs: times.timeoutMs,
        intervalMs: times.pendingIntervalMs,
        // Gives the sockets time to open.
        startAfterMs: sockets.length === 0 ? 0 : times.pendingIntervalMs,
        isNeeded: () => !sockets.some((socket) => socket.isSubscribed('newPendingTransactions')),
      },
      deliverPending,
    )
    update()
  }
  const stopPending = (): void => {
    stopPendingPoll?.()
    seenHashes = undefined
    update()
  }
  const startSyncing = (): void => {
    stopSyncingPoll = pollSyncing(
      { group, timeoutMs: times.timeoutMs, intervalMs: times.syncingIntervalMs },
      syncing.emit,
    )
  }
  const heads = createListeners<[]>({ onFirst: update, onNone: update })
  const pending = createListeners<[hashes: readonly string[]]>({ onFirst: startPending, onNone: stopPending })
  const syncing = createListeners<[status: string]>({ onFirst: startSyncing, onNone: () => stopSyncingPoll?.() })

  return {
    onHead: heads.add,
    onPendingTransactions: pending.add,
    onSyncing: syncing.add,
    close: () => {
      for (const listeners of [heads, pending, syncing]) listeners.clear()
    },
  }
}
