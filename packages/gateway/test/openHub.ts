import { createBufferedBytes } from '../src/lib/memoryBudget.ts'
import type { NodeSource } from '../src/proxy/subscription/nodeSource.ts'
import type {
  Subscriber,
  SubscriptionFault,
  SubscriptionHub,
  SubscriptionKind,
  SubscriptionLimits,
} from '../src/proxy/subscription/subscriptionHub.ts'
import { createSubscriptionHub } from '../src/proxy/subscription/hub/createSubscriptionHub.ts'
import type { SubscriptionHubOptions } from '../src/proxy/subscription/hub/createSubscriptionHub.ts'
import { createTaskQueue } from '../src/proxy/subscription/hub/createTaskQueue.ts'
import type { Rejection } from '../src/errors/rejection.ts'
import { createScriptedChain } from './scriptedChain.ts'
import type { ScriptedChain, ScriptedLog } from './scriptedChain.ts'

export { createBufferedBytes } from '../src/lib/memoryBudget.ts'
export { createLogIndex } from '../src/proxy/subscription/hub/createLogIndex.ts'
export { createTaskQueue } from '../src/proxy/subscription/hub/createTaskQueue.ts'

/** A notification, as a client parses it. */
export interface Notification {
  readonly jsonrpc: '2.0'
  readonly method: 'eth_subscription'
  readonly params: {
    readonly subscription: string
    readonly result?: unknown
    readonly position?: { readonly number: string; readonly hash: string }
  }
}

/** A connection that records what it gets. */
export interface RecordingClient extends Subscriber {
  /** The events that it got so far, in order. */
  readonly notifications: Notification[]
  /** The buffers that it got. */
  readonly buffers: Buffer[]
  /** How many notifications it got of each kind. */
  readonly counts: Map<SubscriptionKind, number>
  readonly faults: SubscriptionFault[]
  /** The subscriptions that the hub has ended, and why. */
  readonly ended: [id: string, rejection: Rejection][]
  /** Called with each notification, as it comes. */
  onNotification: (notification: Notification) => void
}

/** Reads unmasked text frames. @see RFC 6455 section 5.2 */
const readFrames = (bytes: Buffer): readonly string[] => {
  const texts: string[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== 0x81) throw new Error(`not a final text frame at ${at}`)
    const short = bytes[at + 1] as number
    const header = short < 126 ? 2 : short === 126 ? 4 : 10
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    texts.push(bytes.toString('utf8', at + header, at + header + length))
    at += header + length
  }
  return texts
}

/** Creates a client without subscriptions. */
export const createClient = (): RecordingClient => {
  const client: RecordingClient = {
    memory: createBufferedBytes('subscriptions', { most: Infinity }),
    notifications: [],
    buffers: [],
    counts: new Map(),
    faults: [],
    ended: [],
    onNotification: () => {},
    deliver: (frame, count, kind) => {
      const texts = readFrames(frame)
      if (texts.length !== count) throw new Error(`${texts.length} frames, not ${count}`)
      client.buffers.push(frame)
      client.counts.set(kind, (client.counts.get(kind) ?? 0) + count)
      for (const text of texts) {
        const notification = JSON.parse(text) as Notification
        client.notifications.push(notification)
        client.onNotification(notification)
      }
    },
    end: (id, rejection) => client.ended.push([id, rejection]),
    fail: (fault) => client.faults.push(fault),
  }
  return client
}

/** A node that a test lets send something. */
export interface ScriptedSource {
  readonly source: NodeSource
  readonly sendTransactions: (hashes: readonly string[]) => void
  readonly sendSyncing: (status: string) => void
  /** How many listeners there are. */
  readonly listeners: () => number
}

const createScriptedSource = (): ScriptedSource => {
  const transactions = new Set<(hashes: readonly string[]) => void>()
  const syncing = new Set<(status: string) => void>()
  const listen =
    <T>(listeners: Set<T>) =>
    (listener: T): (() => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  return {
    source: {
      onHead: () => () => {},
      onPendingTransactions: listen(transactions),
      onSyncing: listen(syncing),
      close: () => {},
    },
    sendTransactions: (hashes) => {
      for (const listener of transactions) listener(hashes)
    },
    sendSyncing: (status) => {
      for (const listener of syncing) listener(status)
    },
    listeners: () => transactions.size + syncing.size,
  }
}

/** A hub with what it is made of. */
export interface OpenHub extends ScriptedSource {
  readonly hub: SubscriptionHub
  readonly chain: ScriptedChain
  /** Subscribes, and returns what `done` got; `undefined` if it was not called yet. */
  readonly subscribe: (client: Subscriber, ...params: unknown[]) => { readonly id: string } | Rejection | undefined
}

const defaultLimits: SubscriptionLimits = {
  maxSubscriptions: 5,
  maxAddresses: 10,
  maxTopics: 10,
  maxNotificationsPerBlock: 50,
  fullTransactions: true,
}

/** Creates a hub over a scripted chain. Without another `queue`, it delivers everything in the turn of the event. */
export const openHub = (
  options: Partial<SubscriptionHubOptions> & {
    readonly chain?: ScriptedChain
    readonly limits?: SubscriptionLimits
  } = {},
): OpenHub => {
  const { chain = createScriptedChain(), limits = defaultLimits, ...rest } = options
  const scripted = createScriptedSource()
  const hub = createSubscriptionHub({
    network: 'testnet',
    follower: chain.follower,
    source: scripted.source,
    getLimits: () => limits,
    secret: 'secret',
    readTransactions: (hashes, deliver) => {
      for (const hash of hashes) deliver(JSON.stringify({ hash }), () => {})
    },
    queue: createTaskQueue({ ms: Infinity, writes: Infinity, schedule: setImmediate }),
    ...rest,
  })
  return {
    ...scripted,
    hub,
    chain,
    subscribe: (client, ...params) => {
      let result: { readonly id: string } | Rejection | undefined
      hub.subscribe(client, JSON.stringify(params), (given) => {
        if (result !== undefined) throw new Error('done was called twice')
        result = given
      })
      return result
    },
  }
}

/** Creates a log of the contract whose address has only this digit. */
export const toLog = (digit: number, ...topics: readonly string[]): ScriptedLog => ({
  address: `0x${String(digit).repeat(40)}`,
  topics,
})

/** Subscribes. @returns The id. @throws {Error} if it was rejected, or if there was no response yet. */
export const follow = ({ subscribe }: OpenHub, client: Subscriber, ...params: readonly unknown[]): string => {
  const result = subscribe(client, ...params)
  if (result === undefined || !('id' in result)) throw new Error(`not subscribed: ${JSON.stringify(result)}`)
  return result.id
}

const summarize = ({ params: { position, result } }: Notification): string => {
  if (position !== undefined) return `@${Number(position.number)}`
  const { number, data, removed } = result as { number?: string; data?: string; removed?: boolean }
  return data === undefined ? `${Number(number)}` : `${removed === true ? '-' : ''}#${Number(data)}`
}

/** The events that a client got, in short: `3` is a head, `@3` a position, `#2` a log by its data, `-#2` a removed log. */
export const getSummary = ({ notifications }: RecordingClient): string => notifications.map(summarize).join(' ')
