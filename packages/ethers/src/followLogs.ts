import { isKeyrailError } from '@keyrail/core'
import { createLogWindows, createWindowSize, sortLogs } from '@keyrail/core/internal'
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
  /** The number of the run: a loop of an earlier run ends. 0 while it is stopped. */
  let run = 0
  let runs = 0
  /** The run whose loop is reading. */
  let busy = 0
  /** The first block of a run that starts at the head. Undefined if it could not be read, which the subscription to blocks reports. */
  let first: Promise<number | undefined> | undefined

  const read = async ({ from, to }: BlockSpan): Promise<readonly Log[]> => {
    try {
      return await provider.getLogs({ ...filter, fromBlock: from, toBlock: to })
    } catch (error) {
      const { failure } = Object(error) as { readonly failure?: unknown }
      throw isKeyrailError(failure) ? failure : error
    }
  }
  /** Emits the logs of a range, window by window. */
  const emitLogs = async (from: number, to: number, own: number): Promise<void> => {
    const windows = createLogWindows({ spans: [{ from, to, exclusive: false }], read, size, concurrency: 1 })
    for (let window = await windows.next(); run === own && window; window = await windows.next()) {
      const logs = sortLogs(window.logs.map((log) => ({ log, number: log.blockNumber, index: log.index })))
      for (const log of logs) void provider.emit(filter, log)
      const lookBack = Math.min(LOOK_BACK, size.current() - 1)
      next = Math.max(next as number, (logs.at(-1)?.blockNumber ?? -1) + 1, window.to - lookBack)
    }
  }
  const onBlock = (block: number): void => {
    head = Math.max(head, block)
    if (run > 0 && busy !== run) void catchUp(run, block)
  }
  /** Reads up to the head. `block` is the one that the provider has reported. */
  const catchUp = async (own: number, block: number): Promise<void> => {
    busy = own
    let lastRead
    try {
      const start = (await first) ?? block
      if (run === own) next ??= start
      // Blocks can arrive during a query: the loop reads those too.
      while (run === own && next !== undefined && next <= head && lastRead !== head) {
        await emitLogs(next, (lastRead = head), own)
        report.succeeded()
      }
    } catch (error) {
      // The next block queries the same range again, up to itself.
      if (run === own) report.failed(error)
    }
    if (busy === own) busy = 0
  }
  const resume = (): void => {
    run = ++runs
    first ??= provider.getBlockNumber().then(
      (number) => number + 1,
      () => undefined,
    )
  }
  return {
    start: () => {
      resume()
      void provider.on('block', onBlock)
    },
    stop: () => {
      run = 0
      void provider.off('block', onBlock)
    },
    // The subscription to blocks is paused with this one. To end it here could race with the one that `resume` would start.
    pause: (drop) => {
      run = 0
      if (drop) next = first = undefined
    },
    resume,
  }
}
