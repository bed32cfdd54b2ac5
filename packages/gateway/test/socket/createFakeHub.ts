import type { Subscriber, SubscriptionFault, SubscriptionHub } from '../../src/proxy/subscription/subscriptionHub.ts'
import { createFrameHeader } from '../../src/lib/textFrames.ts'

/** Subscriptions that a test delivers to. */
export interface FakeHub extends SubscriptionHub {
  /** The params of each `eth_subscribe`. */
  readonly seen: (string | undefined)[]
  /** Delivers a notification to all subscriptions, as many times as given. */
  readonly notify: (result: string, times?: number) => void
  /** Delivers whole pending transactions to all subscriptions. */
  readonly notifyFull: (result: string, times: number) => void
  readonly fail: (fault: SubscriptionFault) => void
  readonly subscribers: () => number
  readonly isClosed: () => boolean
}

const toFrame = (text: string): Buffer => {
  const payload = Buffer.from(text)
  return Buffer.concat([createFrameHeader(payload.length), payload])
}

/** Creates a hub whose subscriptions are all of `newHeads`. */
export const createFakeHub = (): FakeHub => {
  const subscriptions = new Map<Subscriber, Set<string>>()
  const seen: (string | undefined)[] = []
  let lastId = 0
  let isClosed = false
  const toNotification = (id: string, result: string): Buffer =>
    toFrame(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`)
  const deliver = (result: string, times: number, minUnits: 0 | 1): void => {
    for (const [subscriber, ids] of subscriptions)
      for (const id of ids) {
        const frame = toNotification(id, result)
        const kind = minUnits === 1 ? 'newPendingTransactions' : 'newHeads'
        for (let index = 0; index < times; index += 1) subscriber.deliver(frame, 1, kind, minUnits)
      }
  }
  return {
    seen,
    subscribe: (subscriber, params, done) => {
      seen.push(params)
      lastId += 1
      const id = `0x${lastId.toString(16).padStart(32, '0')}`
      const ids = subscriptions.get(subscriber) ?? new Set()
      subscriptions.set(subscriber, ids.add(id))
      done({ id })
    },
    unsubscribe: (subscriber, id) => subscriptions.get(subscriber)?.delete(id) === true,
    review: () => {},
    leave: (subscriber) => void subscriptions.delete(subscriber),
    counts: () => {
      let newHeads = 0
      for (const ids of subscriptions.values()) newHeads += ids.size
      return { newHeads, logs: 0, newPendingTransactions: 0, syncing: 0 }
    },
    close: () => void (isClosed = true),
    notify: (result, times = 1) => deliver(result, times, 0),
    notifyFull: (result, times) => deliver(result, times, 1),
    fail: (fault) => {
      for (const subscriber of subscriptions.keys()) subscriber.fail(fault)
    },
    subscribers: () => subscriptions.size,
    isClosed: () => isClosed,
  }
}
