import type { JsonRpcApiProvider, Subscriber } from 'ethers'
import { createPoller } from './createPoller.ts'

/** After a longer jump of the head, only this many of the newest blocks are emitted. */
const MAX_BLOCKS = 10_000

/** If the head is lower in this many polls in a row, no node is lagging: the chain has become shorter. */
const MAX_LOWER_POLLS = 8

/**
 * Emits the number of each new block on a provider once, by polling. The nodes behind a URL have different heads, so no block is emitted again after
 * a lower head; nor is the number of a block that replaces another in a reorganization. Only if the head stays lower, as on a development chain that
 * was reset, blocks above it are emitted again.
 *
 * @param provider - Sends the calls, and emits the blocks, and as `error` failures that are not retryable.
 */
export function followBlocks(provider: JsonRpcApiProvider): Subscriber {
  let last: number | undefined
  let lowerPolls = 0
  return createPoller(provider, {
    call: { method: 'eth_blockNumber', params: [] },
    poll: async (isCurrent) => {
      const head = await provider.getBlockNumber()
      if (!isCurrent()) return
      lowerPolls = head < (last ?? head) ? lowerPolls + 1 : 0
      if (lowerPolls > 0 && lowerPolls < MAX_LOWER_POLLS) return
      lowerPolls = 0
      for (let block = Math.max((last ?? head) + 1, head - MAX_BLOCKS + 1); block <= head; block++) {
        if (!isCurrent()) return
        await provider.emit('block', block)
      }
      last = head
    },
    reset: () => (last = undefined),
  })
}
