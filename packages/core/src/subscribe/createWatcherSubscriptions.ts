import type {
  NodeSubscriptionListener,
  NodeSubscriptions,
  ReadBlock,
  WatcherSubscriptions,
} from './getNodeSubscriptions.ts'

/**
 * Creates the subscriptions of a transport of viem.
 *
 * @param toError - Converts a failure of `eth_subscribe`.
 */
export function createWatcherSubscriptions(
  { subscribe, unsubscribe }: NodeSubscriptions,
  toError: (error: unknown, call: { readonly method: string; readonly params: unknown }) => unknown,
): WatcherSubscriptions {
  /** The header that a watcher is being called with. */
  let reported: readonly [number: string, readBlock: ReadBlock] | undefined
  return {
    subscribe: async ({ params, onData, onError }) => {
      const convert = (error: unknown): unknown => toError(error, { method: 'eth_subscribe', params })
      const listener: NodeSubscriptionListener = {
        onResult: (result, readBlock) => {
          reported = readBlock && [(result as { readonly number: string }).number, readBlock]
          try {
            return onData({ subscription: subscriptionId, result })
          } finally {
            reported = undefined
          }
        },
        onError: (error) => onError?.(convert(error)),
      }
      const subscriptionId: string = await subscribe(params, listener).catch((error: unknown) => {
        throw convert(error)
      })
      return { subscriptionId, unsubscribe: async () => ({ result: unsubscribe(subscriptionId) }) }
    },
    readReported: (method, params) => {
      const [number, full] = (params ?? []) as readonly unknown[]
      return reported && method === 'eth_getBlockByNumber' && number === reported[0]
        ? reported[1](full ? 'full' : 'hashes')
        : undefined
    },
  }
}
