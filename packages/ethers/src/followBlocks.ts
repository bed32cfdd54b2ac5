import type { JsonRpcApiProvider, Subscriber } from 'ethers'
import { createPoller } from './createPoller.ts'

/** After a longer jump of the head, only this many of the newest blocks are emitted. */
const MAX_BLOCKS = 10_000

/**
 * Emits the number of each new block on a provider, by polling.
 *
 * @param provider - Sends the calls, and emits the blocks, and as `error` failures that are not retryable.
 */
export function followBlocks(provider: JsonRpcApiProvider): Subscriber {
  let last: number | undefined
  return createPoller(provider, {
    call: { method: 'eth_blockNumber', params: [] },
    poll: async (isCurrent) => {
      const head = await provider.getBlockNumber()
      if (!isCurrent()) return
      for (let block = Math.max((last ?? head) + 1, head - MAX_BLOCKS + 1); block <= head; block++) {
        if (!isCurrent()) return
        await provider.emit('block', block)
      }
      last = head
    },
    reset: () => (last = undefined),
  })
}
