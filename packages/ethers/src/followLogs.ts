import { isKeyrailError } from '@keyrail/core'
import { createLogWindows, createWindowSize } from '@keyrail/core/internal'
import type { BlockSpan } from '@keyrail/core/internal'
import type { EventFilter, JsonRpcApiProvider, Log, Subscriber } from 'ethers'
import { createErrorReport } from './errorReport.ts'

/** How many blocks without a log are queried again: a node may report a block before it has indexed its logs. */
const LOOK_BACK = 60

/**
 * Emits the logs that match a filter on a provider, with one `eth_getLogs` at a time for the blocks that are new. A range that is too large for the
 * node is split. The subscribers of ethers have faults that this one avoids: its polling starts a range before the previous one is complete, and
 * emits logs twice. Its filters exist on a single node, while a URL can lead to several, and they miss logs that arrive during a query. Neither
 * reports a failure.
 *
 * @param provider - Sends the queries, reports new blocks, and emits the logs, and as `error` failures that are not retryable.
 * @param filter - The filter of the subscription.
 */
export function followLogs(provider: JsonRpcApiProvider, filter: EventFilter): Subscriber {
  const size = createWindowSize(provider)
  const report = createErrorReport(provider, { method: 'eth_getLogs', params: [filter] })
  /** The first block of the next query. No log of it or of a later block has been emitted. */
  let next: number | undefined
  let head = -1
  let running = false
  let busy = false

  const read = async ({ from, to }: BlockSpan): Promise<readonly Log[]> => {
    try {
      return await provider.getLogs({ ...filter, fromBlock: from, toBlock: to })
    } catch (error) {
      const { failure } = Object(error) as { readonly failure?: unknown }
      throw isKeyrailError(failure) ? failure : error
    }
  }
  /** Emits the logs of a range, window by window. */
  const emitLogs = async (from: number, to: number): Promise<void> => {
    const windows = createLogWindows({ spans: [{ from, to, exclusive: false }], read, size, concurrency: 1 })
    for (let window = await windows.next(); running && window; window = await windows.next()) {
      const emitted = new Set<string>()
      for (const log of window.logs) {
        const id = `${log.blockHash} ${log.index}`
        // Some load balancers send a log twice.
        if (!emitted.has(id)) void provider.emit(filter, log)
        emitted.add(id)
      }
      const lookBack = Math.min(LOOK_BACK, size.current() - 1)
      next = Math.max(next as number, (window.logs.at(-1)?.blockNumber ?? -1) + 1, window.to - lookBack)
    }
  }
  const onBlock = (block: number): void => {
    head = Math.max(head, block)
    if (!busy) void catchUp()
  }
  const catchUp = async (): Promise<void> => {
    busy = true
    let lastRead
    try {
      // Blocks can arrive during a query: the loop reads those too.
      while (running && next !== undefined && next <= head && lastRead !== head) {
        await emitLogs(next, (lastRead = head))
        report.succeeded()
      }
    } catch (error) {
      // The next block queries the same range again, up to itself.
      if (running) report.failed(error)
    }
    busy = false
  }
  const start = (): void => {
    if (running) return
    running = true
    if (next === undefined) void findFirstBlock()
    void provider.on('block', onBlock)
  }
  const findFirstBlock = async (): Promise<void> => {
    try {
      next ??= (await provider.getBlockNumber()) + 1
    } catch {
      // Start at the first block that the provider reports. The subscription to blocks reports the failure.
      next ??= head + 1
    }
  }
  const stop = (): void => {
    if (!running) return
    running = false
    void provider.off('block', onBlock)
  }
  return {
    start,
    stop,
    pause: (drop) => {
      stop()
      if (drop) next = undefined
    },
    resume: start,
  }
}
