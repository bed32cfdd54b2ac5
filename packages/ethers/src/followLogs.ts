import type { AbstractProvider, EventFilter, Subscriber } from 'ethers'

/** How many blocks without a log are asked about again: a node may know of a block before it knows of its logs. */
const LOOK_BACK = 60

/**
 * Tells a provider of the logs of a filter as blocks come, by ranges. Where ethers polls by itself, it begins a range before the one before it
 * is over and tells logs twice; its filters live in one node, of the several that an address can stand for, and miss what comes while they are
 * asked.
 *
 * @param provider - Asks for the logs, tells of blocks, and is told.
 * @param filter - Of the subscription.
 */
export function followLogs(provider: AbstractProvider, filter: EventFilter): Subscriber {
  /** The first block that no log has come from yet. */
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
    let told
    try {
      // What came meanwhile is read as well.
      while (running && next !== undefined && next <= head && told !== head) await read(next, (told = head))
    } catch {
      // The next block asks for the same, and for itself.
    }
    busy = false
  }
  const start = (): void => {
    if (running) return
    running = true
    if (next === undefined) void begin()
    void provider.on('block', onBlock)
  }
  const begin = async (): Promise<void> => {
    try {
      next ??= (await provider.getBlockNumber()) + 1
    } catch {
      // Then from the first block that comes.
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
