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
  /**
   * Ends one subscription.
   *
   * @param isOpening - As for `deliver`: a server may end a subscription before the response with its id.
   * @returns As for `deliver`.
   */
  readonly end: (id: string, failure: KeyrailError, isOpening: () => boolean) => boolean
  readonly endAll: (failure: KeyrailError) => void
}

/** What a server sent about a subscription. */
interface Message {
  readonly id: string
  readonly handle: (subscriber: Subscriber) => void
}

/** How many messages are stored that came before the response with the id of their subscription. */
const MAX_EARLY = 1_000

/** Creates an empty set of subscriptions. */
export function createSubscriptions(): SocketSubscriptions {
  const subscribers = new Map<string, Subscriber>()
  let early: Message[] = []

  const pass = (message: Message, isOpening: () => boolean): boolean => {
    const subscriber = subscribers.get(message.id)
    if (subscriber) message.handle(subscriber)
    else if (isOpening()) early.push(message)
    return early.length <= MAX_EARLY
  }

  return {
    count: () => subscribers.size,
    add: (id, subscriber) => {
      if (subscribers.has(id)) return false
      subscribers.set(id, subscriber)
      const own = early.filter((message) => message.id === id)
      early = early.filter((message) => message.id !== id)
      for (const { handle } of own) if (subscribers.has(id)) handle(subscriber)
      return true
    },
    remove: (id) => subscribers.delete(id),
    deliver: (notification, isOpening) =>
      pass({ id: notification.subscription, handle: ({ onNotification }) => onNotification(notification) }, isOpening),
    clearEarly: () => {
      early = []
    },
    end: (id, failure, isOpening) => {
      const handle = ({ onEnd }: Subscriber): void => {
        subscribers.delete(id)
        onEnd(failure)
      }
      return pass({ id, handle }, isOpening)
    },
    endAll: (failure) => {
      const ended = [...subscribers.values()]
      subscribers.clear()
      for (const { onEnd } of ended) onEnd(failure)
    },
  }
}
