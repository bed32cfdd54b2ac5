import type { JsonRpcApiProvider, Subscriber } from 'ethers'
import { createPoller } from './createPoller.ts'

/**
 * Emits the hashes of pending transactions on a provider, by polling a filter. If the node has lost the filter, a new one is created: the subscriber
 * of ethers polls the lost one forever.
 *
 * @param provider - Sends the calls, and emits the hashes, and as `error` failures that are not retryable.
 */
export function followPending(provider: JsonRpcApiProvider): Subscriber {
  let filter: unknown
  return createPoller(provider, {
    call: { method: 'eth_newPendingTransactionFilter', params: [] },
    poll: async (isCurrent) => {
      const isNew = filter === undefined
      filter ??= await provider.send('eth_newPendingTransactionFilter', [])
      try {
        const hashes = (await provider.send('eth_getFilterChanges', [filter])) as string[]
        for (const hash of hashes) if (isCurrent()) await provider.emit('pending', hash)
      } catch (error) {
        filter = undefined
        if (isNew) throw error
      }
    },
    reset: () => (filter = undefined),
  })
}
