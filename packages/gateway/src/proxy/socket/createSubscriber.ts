import { rejections } from '../../errors/rejections.ts'
import type { SubscriptionCalls } from '../subscription/subscriptionCalls.ts'
import type { Subscriber, SubscriptionHub, SubscriptionKind } from '../subscription/subscriptionHub.ts'
import { parseSingleText } from './parseSingleText.ts'

/** The subscriptions of a connection. */
export interface ConnectionSubscriber {
  /** Handles subscription calls; `undefined` if the network has no subscriptions. */
  readonly calls: () => SubscriptionCalls | undefined
  /** Ends them all. */
  readonly leave: () => void
}

/** More would be a batch whose other calls take very long. */
const maxHeld = 10_000

/**
 * Creates the subscriber of a connection.
 * @param options.getHub - Gets the subscriptions of the connection's network.
 */
export const createSubscriber = ({
  getHub,
  keyId,
  deliver,
  fail,
}: Subscriber & { readonly getHub: () => SubscriptionHub | undefined }): ConnectionSubscriber => {
  /** The hub with which it has subscribed. */
  let joined: SubscriptionHub | undefined
  let hasLeft = false
  /** Notifications that wait for the response with their subscription's id. */
  let held: { frame: Buffer; notifications: number; kind: SubscriptionKind }[] | undefined
  let holds = 0

  const subscriber: Subscriber = {
    keyId,
    deliver: (frame, notifications, kind) => {
      if (held === undefined) deliver(frame, notifications, kind)
      else if (held.length < maxHeld) held.push({ frame, notifications, kind })
      else fail('tooManyNotifications')
    },
    fail,
  }
  const release = (): void => {
    holds -= 1
    if (holds > 0) return
    const frames = held ?? []
    held = undefined
    for (const { frame, notifications, kind } of frames) deliver(frame, notifications, kind)
  }
  const createCalls = (hub: SubscriptionHub): SubscriptionCalls => ({
    run: ({ method, params }, done) => {
      if (hasLeft) return
      if (method === 'eth_unsubscribe') {
        const id = parseSingleText(params)
        if (id === undefined) done(rejections.invalidParams())
        else done({ member: 'result', value: String(joined?.unsubscribe(subscriber, id) === true) })
        return
      }
      joined = hub
      hub.subscribe(subscriber, params, (result) => {
        if ('reason' in result) done(result)
        else done({ member: 'result', value: JSON.stringify(result.id) })
      })
    },
    hold: () => {
      holds += 1
      held ??= []
      return release
    },
  })
  return {
    calls: () => {
      const hub = joined ?? getHub()
      return hub === undefined ? undefined : createCalls(hub)
    },
    leave: () => {
      hasLeft = true
      held = undefined
      joined?.leave(subscriber)
      joined = undefined
    },
  }
}
