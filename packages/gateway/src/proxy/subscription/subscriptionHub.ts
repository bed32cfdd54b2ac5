import type { Rejection } from '../../errors/rejection.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'
import type { WebSocketOptions } from '../options/webSocketOptions.ts'

/** One connection, as subscriptions see it. */
export interface Subscriber {
  /** The memory of its subscriptions. The hub holds and releases it. */
  readonly memory: BufferedBytes
  /**
   * Sends notifications: WebSocket text frames, complete with their headers, which other connections may get too. Those of one turn of the event
   * loop are written together.
   * @param notifications - How many they are.
   * @param kind - What they are of, for metrics.
   * @param minUnits - How many units of the quota each costs at least.
   */
  readonly deliver: (frame: Buffer, notifications: number, kind: SubscriptionKind, minUnits: 0 | 1) => void
  /** Notifies the connection that a subscription has ended. */
  readonly end: (id: string, rejection: Rejection) => void
  /** Ends the connection, because its subscriptions cannot be continued: a gap must never be silent. */
  readonly fail: (reason: SubscriptionFault) => void
}

/**
 * Why a connection is closed. `tooManyNotifications`: more in one block than `maxNotificationsPerBlock`. `reorgTooDeep`: the chain was reorganized
 * below the blocks that are remembered. `nodeUnavailable`: no node could be followed for a minute.
 */
export type SubscriptionFault = 'tooManyNotifications' | ChainFault

/** Why the chain could not be followed without a gap. */
export type ChainFault = 'reorgTooDeep' | 'nodeUnavailable'

/** The subscriptions of one network. */
export interface SubscriptionHub {
  /**
   * Handles `eth_subscribe`.
   * @param params - The source text of the call's params; `undefined` if it has none.
   * @param done - Called once, with the subscription's id or a rejection, before the first notification is delivered. Also if the connection is closed
   * before that.
   */
  readonly subscribe: (
    subscriber: Subscriber,
    params: string | undefined,
    done: (result: { readonly id: string } | Rejection) => void,
  ) => void
  /**
   * Checks the subscriptions of a connection again, in slices: those that are rejected end, and `Subscriber.end` is called for each. Later ones of it
   * are checked in the same way when they start.
   * @param reject - Gets the params of an `eth_subscribe` with which it would be requested, as source text.
   */
  readonly review: (subscriber: Subscriber, reject: (params: string) => Rejection | undefined) => void
  /** Handles `eth_unsubscribe`. @returns Whether the connection had that subscription. Nothing of it is delivered later. */
  readonly unsubscribe: (subscriber: Subscriber, id: string) => boolean
  /** Ends all subscriptions of a connection that was closed. Call this for each, after its last `subscribe`. */
  readonly leave: (subscriber: Subscriber) => void
  /** Ends all connections that have subscriptions to blocks or logs, after the steps so far: call this when the follower starts again at the head. */
  readonly fail: (reason: ChainFault) => void
  /** How many subscriptions there are, by kind. */
  readonly counts: () => Readonly<Record<SubscriptionKind, number>>
  /** Ends all subscriptions and stops following. */
  readonly close: () => void
}

/** The kinds of subscriptions. */
export type SubscriptionKind = 'newHeads' | 'logs' | 'newPendingTransactions' | 'syncing'

/** Limits of subscriptions. */
export type SubscriptionLimits = Pick<
  WebSocketOptions,
  'maxSubscriptions' | 'maxAddresses' | 'maxTopics' | 'maxNotificationsPerBlock' | 'fullTransactions'
>
