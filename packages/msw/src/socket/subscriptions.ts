import type { Hex, LogFilter } from '@keyrail/core'
import { lower, toQuantity } from '../bytes/hex.ts'
import type { Chain } from '../chain/chain.ts'
import { wireHeader } from '../chain/header.ts'
import { matchLogs } from '../chain/matchLogs.ts'
import type { LogCriteria } from '../chain/matchLogs.ts'
import { wireTransaction } from '../chain/wireTransaction.ts'
import { parseCriteria } from '../rpc/logMethods.ts'
import { RpcError } from '../rpc/rpcError.ts'
import type { SubscriptionKind } from './notificationFaults.ts'

/** A notification to send. */
export interface Notification {
  readonly kind: SubscriptionKind
  readonly params: object
}

/** The subscriptions of one connection. */
export interface Subscriptions {
  /**
   * Handles `eth_subscribe`.
   * @returns the id. Nothing is sent for it before `activate`.
   * @throws {RpcError} for wrong params.
   */
  readonly subscribe: (params: readonly unknown[]) => Hex
  /** Handles `eth_unsubscribe`. @returns whether the connection had that subscription. */
  readonly unsubscribe: (id: unknown) => boolean
  /** Lets new subscriptions send. Call it when the responses to `eth_subscribe` were sent. */
  readonly activate: () => void
  /** Returns what happened since it was called last, as notifications. */
  readonly takeNotifications: () => readonly Notification[]
  readonly list: () => readonly SubscriptionKind[]
}

interface Subscription {
  readonly kind: SubscriptionKind
  readonly criteria: LogCriteria | undefined
  /** Whether whole transactions are sent instead of their hashes. */
  readonly full: boolean
  /** Whether it was made with a cursor, so that it gets positions. */
  readonly hasCursor: boolean
  active: boolean
  /** The first event, or for transactions the first arrival, that it has not got. */
  next: number
  /** How many blocks in a row had no log for it. */
  quietBlocks: number
  /** Its first notification. */
  readonly first: object[]
}

const kinds: readonly SubscriptionKind[] = ['newHeads', 'logs', 'newPendingTransactions', 'syncing']
/** The service sends the position of a subscription to logs at least so often. */
const maxQuietBlocks = 16
/** The service remembers this many blocks. */
const rememberedBlocks = 128

const invalidParams = (message: string): RpcError => new RpcError(-32_602, message)

/**
 * Creates the subscriptions of a connection.
 * @param hasCursors - Whether it takes cursors, as Keyrail's service does.
 */
export function createSubscriptions(chain: Chain, hasCursors: () => boolean): Subscriptions {
  const all = new Map<Hex, Subscription>()
  let created = 0

  const toPosition = (number: number, hash: string): object => ({ position: { number: toQuantity(number), hash } })

  /** Finds where a cursor continues. @returns the events to send: the blocks above the newest one that the client has. */
  const resume = (subscription: Subscription, cursor: unknown): void => {
    const { hashes } = Object(cursor) as { readonly hashes?: readonly Hex[] }
    if (cursor !== null && (!Array.isArray(hashes) || hashes.length === 0 || hashes.length > 256))
      throw invalidParams('invalid cursor: use null, or { number, hashes } with 1 to 256 hashes')
    const known = (hashes ?? []).map((hash) => chain.blockByHash(lower(hash))).find((block) => block !== undefined)
    const start = cursor === null ? chain.block(chain.height()) : known
    if (start === undefined || chain.height() - start.number > rememberedBlocks)
      throw new RpcError(-32_001, `The cursor is too old: it has none of the last ${rememberedBlocks} blocks`)
    subscription.first.push(toPosition(start.number, start.hash))
    for (let number = start.number + 1; number <= chain.height(); number++)
      subscription.first.push(...toBlockParams(subscription, number))
  }
  /** The notifications of a subscription for a block. */
  const toBlockParams = (subscription: Subscription, number: number): object[] => {
    const block = chain.block(number)
    if (block === undefined) return []
    if (subscription.kind === 'newHeads') return [{ result: wireHeader(block.header, block.hash) }]
    const logs = matchLogs(block, subscription.criteria as LogCriteria).map((result) => ({ result }))
    return [...logs, ...toLogPosition(subscription, logs.length, toPosition(number, block.hash))]
  }
  const toLogPosition = (subscription: Subscription, logs: number, position: object): object[] => {
    subscription.quietBlocks = logs > 0 ? 0 : subscription.quietBlocks + 1
    if (!subscription.hasCursor || (logs === 0 && subscription.quietBlocks < maxQuietBlocks)) return []
    subscription.quietBlocks = 0
    return [position]
  }

  /** The notifications of a subscription to blocks or logs for the events since the last time. */
  const takeEvents = (subscription: Subscription): object[] => {
    const { kind, criteria, hasCursor } = subscription
    const events = chain.events.slice(subscription.next)
    subscription.next = chain.events.length
    return events.flatMap(({ block, removed }, index) => {
      const { number, header, hash } = block
      if (removed && hasCursor) {
        // One position for all blocks that were removed together.
        if (events[index + 1]?.removed === true) return []
        return [toPosition(number - 1, header.parentHash)]
      }
      if (kind === 'newHeads') return removed ? [] : [{ result: wireHeader(header, hash) }]
      const logs = matchLogs(block, criteria as LogCriteria, removed).map((result) => ({ result }))
      if (removed) return logs.reverse()
      return [...logs, ...toLogPosition(subscription, logs.length, toPosition(number, hash))]
    })
  }
  const takeTransactions = (subscription: Subscription): object[] => {
    const arrivals = chain.arrivals.slice(subscription.next)
    subscription.next = chain.arrivals.length
    return arrivals.map((tx) => ({ result: subscription.full ? wireTransaction(tx, null) : tx.hash }))
  }

  return {
    subscribe(params) {
      const [kind, ...options] = params as [SubscriptionKind, ...unknown[]]
      if (!kinds.includes(kind))
        throw invalidParams(`no "${String(kind)}" subscription in eth namespace: use ${kinds.join(', ')}`)
      const criteria = kind === 'logs' ? parseCriteria((options.shift() ?? {}) as LogFilter) : undefined
      const full = kind === 'newPendingTransactions' && options.shift() === true
      const [cursorOptions] = options
      const hasCursor = cursorOptions !== undefined
      const takesCursor = hasCursors() && (kind === 'newHeads' || kind === 'logs')
      if (options.length > (takesCursor ? 1 : 0))
        throw invalidParams(`too many arguments, want at most ${params.length - 1}`)
      const next = kind === 'newPendingTransactions' ? chain.arrivals.length : chain.events.length
      const subscription = { kind, criteria, full, hasCursor, active: false, next, quietBlocks: 0, first: [] }
      if (hasCursor) resume(subscription, (Object(cursorOptions) as { readonly cursor?: unknown }).cursor)
      const id: Hex = `0x${(++created).toString(16).padStart(32, '0')}`
      all.set(id, subscription)
      return id
    },
    unsubscribe: (id) => all.delete(id as Hex),
    activate() {
      for (const subscription of all.values()) subscription.active = true
    },
    takeNotifications() {
      const notifications: Notification[] = []
      for (const [id, subscription] of all) {
        const { kind, active, first } = subscription
        if (!active || kind === 'syncing') continue
        const taken = kind === 'newPendingTransactions' ? takeTransactions(subscription) : takeEvents(subscription)
        for (const params of [...first.splice(0), ...taken])
          notifications.push({ kind, params: { subscription: id, ...params } })
      }
      return notifications
    },
    list: () => [...all.values()].map(({ kind }) => kind),
  }
}
