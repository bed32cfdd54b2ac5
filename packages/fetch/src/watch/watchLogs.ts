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

/** What {@link watchLogs} needs of a client. */
export interface WatchLogsClient extends LogsClient {
  readonly with: (
    options: CallOptions,
  ) => ReadClient<'eth_getLogs' | 'eth_blockNumber' | 'eth_getBlockByNumber' | 'eth_getBlockByHash'>
}

/** What a watcher of logs tells. */
export type LogEvent =
  | { readonly type: 'log'; readonly log: Log }
  /** Logs that were told and are no longer in the chain, newest first; `depth` blocks were taken back. Those in their place follow. */
  | { readonly type: 'reorg'; readonly removed: readonly Log[]; readonly depth: number }

/** Options of {@link watchLogs}: which logs, and how to watch. */
export interface WatchLogsOptions extends LogQuery, WatchOptions {}

/**
 * Watches the logs that match, by polling.
 *
 * Each log of the chain is told once, in order. After a reorganization the told logs that fell out of the chain are told once more, newest
 * first and with `removed: true`, also where there were none (then `removed` is empty); then follow those that took their place.
 * Logs are read block by block, by the block's hash (EIP-234), so that they are those of that very block, whatever the chain does meanwhile:
 * a block costs two calls. Blocks farther below the head than twice `reorgDepth` are read in ranges, as `iterateLogs` does.
 * Failures that may pass do not end the watch; looks never overlap. Leaving the loop stops it at once.
 *
 * @param client - A client.
 * @param options - Which logs; where to begin, how often to look.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once; a failure that will not pass, such as `auth`; `range` for a
 *   block with more logs than the node gives; `badResponse` for a reorganization deeper than `reorgDepth`.
 * @throws The signal's own reason where the caller aborted.
 * @example
 * for await (const event of watchLogs(client, { address: account, fromBlock: 21_000_000n })) {
 *   if (event.type === 'log') console.log('came', event.log.transactionHash)
 *   else for (const log of event.removed) console.log('went', log.transactionHash)
 * }
 */
export function watchLogs(
  client: WatchLogsClient,
  options: WatchLogsOptions = {},
): AsyncGenerator<LogEvent, void, undefined> {
  checkWatchOptions('watchLogs', options, ['address', 'topics'])
  const condition = encodeLogQuery(options)
  return runAbortable(options.signal, async function* (signal) {
    const reader = client.with({ signal, priority: 'poll' })

    let cursor: LogCursor | undefined
    async function* catchUp(from: bigint, to: bigint): AsyncGenerator<CaughtUpStep<Log[]>, bigint, undefined> {
      const { address, topics } = options
      const logs = iterateLogs(client, { address, topics, fromBlock: from, toBlock: to, signal, cursor })
      try {
        for await (const log of logs) yield { type: 'settled', loaded: [log] }
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
      load: ({ hash: blockHash }) =>
        readLogs(reader, { ...condition, blockHash }, (log) => log.blockHash === blockHash),
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
