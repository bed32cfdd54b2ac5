import { toProviderRpcError } from '../transport/createProvider.ts'
import type { NodeSubscriptionListener, NodeSubscriptions, ProviderSubscriptions } from './getNodeSubscriptions.ts'

interface Listener {
  readonly event: string
  readonly listener: (value: never) => void
  readonly once: boolean
}

/** Creates the subscriptions of an EIP-1193 provider. */
export function createProviderSubscriptions({ subscribe, unsubscribe }: NodeSubscriptions): ProviderSubscriptions {
  const ids = new Set<unknown>()
  let listeners: readonly Listener[] = []
  const emit = (event: string, value: unknown): void => {
    const called = listeners.filter((one) => one.event === event)
    listeners = listeners.filter((one) => !(one.event === event && one.once))
    // Each in a microtask of its own: an error of one listener becomes an unhandled rejection, and the others are called.
    for (const { listener } of called) void Promise.resolve(value as never).then(listener)
  }
  const start = async (params: readonly unknown[]): Promise<string> => {
    let subscription = ''
    const listener: NodeSubscriptionListener = {
      onResult: (result) => emit('message', { type: 'eth_subscription', data: { subscription, result } }),
      onError: (error) => {
        ids.delete(subscription)
        emit('disconnect', toProviderRpcError(error))
      },
    }
    subscription = await subscribe(params, listener)
    ids.add(subscription)
    return subscription
  }
  const end = (id: unknown): boolean => ids.delete(id) && unsubscribe(id)
  const add = (once: boolean): ProviderSubscriptions['on'] => {
    return (event, listener) => (listeners = [...listeners, { event, listener, once }])
  }
  return {
    request: (method, params = []) => {
      if (method === 'eth_subscribe') return start(params as readonly unknown[])
      if (method === 'eth_unsubscribe') return Promise.resolve(end((params as readonly unknown[])[0]))
      return undefined
    },
    on: add(false),
    once: add(true),
    removeListener: (event, listener) => {
      const index = listeners.findLastIndex((one) => one.event === event && one.listener === listener)
      listeners = listeners.filter((_, at) => at !== index)
    },
    removeAllListeners: (event) => {
      listeners = event === undefined ? [] : listeners.filter((one) => one.event !== event)
    },
    close: () => {
      for (const id of ids) end(id)
    },
  }
}
