import type { CallOptions } from '@keyrail/core'
import type { Block } from '../decode/block.ts'
import type { Log } from '../decode/log.ts'
import { encodeLogQuery } from '../logs/encodeLogQuery.ts'
import { iterateLogs } from '../logs/iterateLogs.ts'
import type { LogsClient } from '../logs/iterateLogs.ts'
import type { LogQuery } from '../logs/logQuery.ts'
import type { LogCursor } from '../logs/logCursor.ts'
import { readLogs } from '../logs/readLogs.ts'
import { runAbortable } from '../logs/runAbortable.ts'
import { getBlock } from '../read/getBlock.ts'
import type { ReadClient } from '../read/readClient.ts'
import { followChain } from './followChain.ts'
import type { CaughtUpStep } from './followChain.ts'
import { checkWatchOptions } from './watchOptions.ts'
import type { WatchOptions } from './watchOptions.ts'

/** What {@link watchLogs} needs from a client. */
export interface WatchLogsClient extends LogsClient {
  readonly with: (
    options: CallOptions,
  ) => ReadClient<'eth_getLogs' | 'eth_blockNumber' | 'eth_getBlockByNumber' | 'eth_getBlockByHash'>
}

/** An event of {@link watchLogs}. */
export type LogEvent =
  | { readonly type: 'log'; readonly log: Log }
  /** Reported logs that are no longer in the chain, newest first, after `depth` blocks were removed. The logs that replace them follow. */
  | { readonly type: 'reorg'; readonly removed: readonly Log[]; readonly depth: number }

/** Options of {@link watchLogs}: which logs, and how to poll. */
export interface WatchLogsOptions extends LogQuery, WatchOptions {}

/**
 * Watches the logs that match, by polling.
 *
 * Each log of the chain is reported once, in order. After a reorganization, the reported logs that left the chain are reported again in one
 * `reorg` event, newest first and with `removed: true` (an empty list if there were none), and then the logs that replace them.
 * Logs are read block by block, by the block's hash (EIP-234), so they always belong to that block even if the chain changes at the same
 * time: a block costs two calls. Blocks more than twice `reorgDepth` below the head are read in ranges, as `iterateLogs` does.
 * Retryable failures do not end the watch. Polls never overlap. Leaving the loop stops the watch at once.
 *
 * @param client - A client.
 * @param options - Which logs, where to start and how often to poll.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once; a failure that is not retryable, such as `auth`; `range` for a
 *   block with more logs than the node returns; `badResponse` for a reorganization deeper than `reorgDepth`.
 * @throws The signal's own reason if you abort it.
 * @example
 * for await (const event of watchLogs(client, { address: account, fromBlock: 21_000_000n })) {
 *   if (event.type === 'log') console.log('new', event.log.transactionHash)
 *   else for (const log of event.removed) console.log('removed', log.transactionHash)
 * }
 */
export function watchLogs(
  client: WatchLogsClient,
  options: WatchLogsOptions = {},
): AsyncGenerator<LogEvent, void, undefined> {
  checkWatchOptions('watchLogs', options, ['address', 'topics'])
  const query = encodeLogQuery(options)
  return runAbortable(options.signal, async function* (signal) {
    const reader = client.with({ signal, priority: 'poll' })

    let cursor: LogCursor | undefined
    async function* catchUp(from: bigint, to: bigint): AsyncGenerator<CaughtUpStep<Log[]>, bigint, undefined> {
      const { address, topics } = options
      const logs = iterateLogs(client, { address, topics, fromBlock: from, toBlock: to, signal, cursor })
      try {
        for await (const log of logs) yield { type: 'caughtUp', loaded: [log] }
      } catch (error) {
        cursor = logs.cursor()
        throw error
      }
      const { nextBlock } = logs.cursor() as LogCursor
      cursor = undefined
      return BigInt(nextBlock)
    }

    const steps = followChain(reader, {
      ...options,
      signal,
      read: (block): Promise<Block | null> => getBlock(reader, { block }),
      load: ({ hash: blockHash }) => readLogs(reader, { ...query, blockHash }, (log) => log.blockHash === blockHash),
      catchUp,
    })
    for await (const step of steps) {
      if (step.type !== 'reorg') for (const log of step.loaded) yield { type: 'log', log }
      else {
        const removed = step.removed.flatMap(({ loaded }) => loaded.map((log) => ({ ...log, removed: true })).reverse())
        yield { type: 'reorg', removed, depth: step.removed.length }
      }
    }
  })
}
