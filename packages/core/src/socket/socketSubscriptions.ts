import type { KeyrailError } from '../failure/keyrailError.ts'
import type { SocketNotification, Subscriber } from './socketCall.ts'

/** The subscriptions of one connection. */
export interface SocketSubscriptions {
  readonly count: () => number
  /** Adds the subscription that a response names, and delivers the notifications that came before the response. False if the id is in use. */
  readonly add: (id: string, subscriber: Subscriber) => boolean
  readonly remove: (id: string) => void
  /**
   * Delivers a notification.
   *
   * @param isOpening - Whether a subscription is being opened, whose id is not known yet. Nodes may send notifications before the response.
   * @returns False if too many notifications without a subscription are stored.
   */
  readonly deliver: (notification: SocketNotification, isOpening: () => boolean) => boolean
  /** Drops stored notifications, which belong to no subscription. */
  readonly clearEarly: () => void
  /** Ends a subscription. @param id - @default all */
  readonly end: (failure: KeyrailError, id?: string) => void
}

/** How many notifications are stored that came before the response with the id of their subscription. */
const MAX_EARLY = 1_000

/** Creates an empty set of subscriptions. */
export function createSubscriptions(): SocketSubscriptions {
  const subscribers = new Map<string, Subscriber>()
  let early: SocketNotification[] = []
  return {
    count: () => subscribers.size,
    add: (id, subscriber) => {
      if (subscribers.has(id)) return false
      subscribers.set(id, subscriber)
      const own = early.filter(({ subscription }) => subscription === id)
      early = early.filter(({ subscription }) => subscription !== id)
      for (const notification of own) subscriber.onNotification(notification)
      return true
    },
    remove: (id) => subscribers.delete(id),
    deliver: (notification, isOpening) => {
      const subscriber = subscribers.get(notification.subscription)
      if (subscriber) subscriber.onNotification(notification)
      else if (isOpening()) early.push(notification)
      return early.length <= MAX_EARLY
    },
    clearEarly: () => {
      early = []
    },
    end: (failure, only) => {
      const ended = [...subscribers].filter(([id]) => only === undefined || id === only)
      for (const [id] of ended) subscribers.delete(id)
      for (const [, { onEnd }] of ended) onEnd(failure)
    },
  }
}
