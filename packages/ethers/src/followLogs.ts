import type { AbstractProvider, EventFilter, Subscriber } from 'ethers'

/** How many blocks without a log are queried again: a node may report a block before it has indexed its logs. */
const LOOK_BACK = 60

/**
 * Emits the logs that match a filter on a provider, with one `eth_getLogs` at a time for the blocks that are new. The subscribers of ethers
 * have faults that this one avoids: its polling starts a range before the previous one is complete, and emits logs twice. Its filters exist
 * on a single node, while a URL can lead to several, and they miss logs that arrive during a query.
 *
 * @param provider - Sends the queries, reports new blocks, and emits the logs.
 * @param filter - The filter of the subscription.
 */
export function followLogs(provider: AbstractProvider, filter: EventFilter): Subscriber {
  /** The first block of the next query. */
  let next: number | undefined
  let head = -1
  let running = false
  let busy = false

  const read = async (from: number, to: number): Promise<void> => {
    const logs = await provider.getLogs({ ...filter, fromBlock: from, toBlock: to })
    if (!running) return
    for (const log of logs) void provider.emit(filter, log)
    next = Math.max(from, (logs.at(-1)?.blockNumber ?? -1) + 1, to - LOOK_BACK)
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
      while (running && next !== undefined && next <= head && lastRead !== head) await read(next, (lastRead = head))
    } catch {
      // The next block queries the same range again, up to itself.
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
      // Start at the first block that the provider reports.
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
