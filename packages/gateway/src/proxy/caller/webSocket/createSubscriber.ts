import { dropBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../../lib/memoryBudget.ts'
import { rejections } from '../../../errors/rejections.ts'
import type { SubscriptionCalls } from '../../upstream/subscriptionCalls.ts'
import type { Subscriber, SubscriptionHub } from '../../subscription/subscriptionHub.ts'
import { parseSingleText } from './parseSingleText.ts'

/** The subscriptions of a connection. */
export interface ConnectionSubscriber {
  /** Handles subscription calls; `undefined` if the network has no subscriptions. */
  readonly calls: () => SubscriptionCalls | undefined
  /** Checks them again: @see SubscriptionHub */
  readonly review: (reject: Parameters<SubscriptionHub['review']>[1]) => void
  /** Ends them all. */
  readonly leave: () => void
}

/** The parts of a connection that its subscriptions need. */
export interface SubscriberOptions extends Subscriber {
  /** Gets the subscriptions of the connection's network. */
  readonly getHub: () => SubscriptionHub | undefined
  /** The memory of notifications that wait for the response to a batch. */
  readonly waiting: BufferedBytes
}

/** Creates the subscriber of a connection. */
export const createSubscriber = ({
  getHub,
  memory,
  waiting,
  deliver,
  end,
  fail,
}: SubscriberOptions): ConnectionSubscriber => {
  /** The hub with which it has subscribed. */
  let joined: SubscriptionHub | undefined
  let hasLeft = false
  /** Sends the notifications and ends that wait for the response with their subscription's id. */
  let held: (() => void)[] | undefined
  let holds = 0

  const takeHeld = (): readonly (() => void)[] => {
    const sends = held ?? []
    held = undefined
    dropBytes(waiting, waiting.held)
    return sends
  }
  const subscriber: Subscriber = {
    memory,
    deliver: (...delivered) => {
      const [frame] = delivered
      if (held === undefined) deliver(...delivered)
      else if (holdBytes(waiting, frame.length)) held.push(() => deliver(...delivered))
      else fail('tooManyNotifications')
    },
    end: (...ended) => {
      if (held === undefined) end(...ended)
      else held.push(() => end(...ended))
    },
    fail,
  }
  const release = (): void => {
    holds -= 1
    if (holds > 0) return
    for (const send of takeHeld()) send()
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
    review: (reject) => joined?.review(subscriber, reject),
    leave: () => {
      hasLeft = true
      takeHeld()
      joined?.leave(subscriber)
      joined = undefined
    },
  }
}
