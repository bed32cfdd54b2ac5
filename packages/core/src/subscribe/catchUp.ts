import { createLogWindows } from '../logs/logWindows.ts'
import type { BlockSpan } from '../logs/blockSpan.ts'
import { createWindowSize } from '../logs/windowSize.ts'
import type { LogFilterFields, RpcLog } from '../schema/log.ts'
import type { CallOptions } from '../transport/call/call.ts'
import type { Transport } from '../transport/transport.ts'
import { parseLogs, parseNumber, toQuantity } from './chainBlock.ts'
import type { RecentChain } from './recentChain.ts'
import type { LogEvent } from './subscription.ts'

/** Options of {@link catchUpLogs}. */
export interface CatchUpOptions {
  /** Sends the calls. Its users share what it learns about the size of ranges. */
  readonly transport: Transport
  /** The chain. Its partial block, if there is one, is known to be in the chain of the node. */
  readonly chain: RecentChain
  /** Which logs. */
  readonly logs: LogFilterFields
  /** The options of each call. */
  readonly callOptions: CallOptions
}

/** How many windows to read in parallel. */
const concurrency = 4

/**
 * Reports the logs of blocks that are far below the head, in ranges. They count as final: afterwards the chain is empty, and its next block is
 * the one after the last. If it fails, another call continues where this one ended.
 *
 * @param options - Which logs, and how to read them.
 * @param to - The last block.
 */
export async function* catchUpLogs(
  { transport, chain, logs, callOptions }: CatchUpOptions,
  to: number,
): AsyncGenerator<LogEvent, void, undefined> {
  const from = Math.max(chain.next() as number, chain.first ?? 0)
  const { partial } = chain
  const size = createWindowSize(transport)
  const read = async ({ from: first, to: last }: BlockSpan): Promise<RpcLog[]> => {
    const filter = { ...logs, fromBlock: toQuantity(first), toBlock: toQuantity(last) }
    const value = await transport.request({ method: 'eth_getLogs', params: [filter] }, callOptions)
    return parseLogs(value, (_, number) => number >= first && number <= last)
  }
  const windows = createLogWindows({ spans: [{ from, to, exclusive: false }], read, size, concurrency })
  chain.restart(from)
  for (let window = await windows.next(); window; window = await windows.next()) {
    for (const log of window.logs) {
      const number = parseNumber(log.blockNumber, 'log.blockNumber')
      const logIndex = parseNumber(log.logIndex, 'log.logIndex')
      if (partial && (number < partial.number || (number === partial.number && logIndex <= partial.logIndex))) continue
      chain.first = number
      chain.partial = { number, hash: log.blockHash, logIndex, reported: [] }
      yield { type: 'log', log }
    }
    chain.restart(window.to + 1)
  }
}
