import type { JsonRpcApiProvider, Subscriber } from 'ethers'
import { createErrorReport } from './errorReport.ts'

/** After a longer jump of the head, only this many of the newest blocks are emitted. */
const MAX_BLOCKS = 10_000

/**
 * Emits the number of each new block on a provider, by polling. Unlike the subscriber of ethers, it reports failures.
 *
 * @param provider - Sends the calls, and emits the blocks, and as `error` failures that are not retryable.
 */
export function followBlocks(provider: JsonRpcApiProvider): Subscriber {
  const report = createErrorReport(provider, { method: 'eth_blockNumber', params: [] })
  let last: number | undefined
  let timer: number | undefined
  /** The number of the run: a poll of an earlier run does not schedule another one. 0 while it is stopped. */
  let run = 0
  let runs = 0

  const emitBlocks = async (head: number, own: number): Promise<void> => {
    for (let block = Math.max((last ?? head) + 1, head - MAX_BLOCKS + 1); block <= head; block++) {
      if (run !== own) return
      await provider.emit('block', block)
    }
    last = head
  }
  const poll = async (own: number): Promise<void> => {
    try {
      const head = await provider.getBlockNumber()
      if (run === own) await emitBlocks(head, own)
      report.succeeded()
    } catch (error) {
      if (run === own) report.failed(error)
    }
    if (run === own) timer = provider._setTimeout(() => void poll(own), provider.pollingInterval)
  }
  const start = (): void => {
    if (run > 0) return
    run = ++runs
    void poll(run)
  }
  const stop = (): void => {
    run = 0
    if (timer !== undefined) provider._clearTimeout(timer)
    timer = undefined
  }
  return {
    start,
    stop,
    pause: (drop) => {
      stop()
      if (drop) last = undefined
    },
    resume: start,
  }
}
