import type { Hex } from '@keyrail/core'
import type { Block } from '../decode/block.ts'
import type { Transaction } from '../decode/transaction.ts'
import { checkType } from '../encode/checkType.ts'
import { runAbortable } from '../logs/runAbortable.ts'
import { getBlock } from '../read/getBlock.ts'
import { followChain } from './followChain.ts'
import type { BlockRef } from './followChain.ts'
import { checkWatchOptions } from './watchOptions.ts'
import type { WatchClient, WatchOptions } from './watchOptions.ts'

/** An event of {@link watchBlocks}. `T` is the type of the block's transactions: hashes, or full transactions. */
export type BlockEvent<T = Hex> =
  | { readonly type: 'block'; readonly block: Block<T> }
  /** Reported blocks that are no longer in the chain, newest first. The blocks that replace them follow. */
  | { readonly type: 'reorg'; readonly removed: readonly BlockRef[]; readonly depth: number }

/** Options of {@link watchBlocks}. */
export interface WatchBlocksOptions extends WatchOptions {
  /** Whether to return full transactions instead of their hashes. @default false */
  readonly includeTransactions?: boolean | undefined
  /** Whether to also report the blocks between two polls. If false, the reported blocks have gaps. @default true */
  readonly emitMissedBlocks?: boolean | undefined
}

/**
 * Watches the blocks of the chain, by polling.
 *
 * Each block is reported once, in order, without gaps. After a reorganization, the blocks that left the chain are reported as removed,
 * newest first, and then the blocks that replace them: the blocks reported and not removed always form one continuous chain.
 * A poll requests only the latest block. Retryable failures do not end the watch. Polls never overlap, and none is sent while your loop
 * processes an event. Leaving the loop stops the watch at once.
 *
 * @param client - A client.
 * @param options - Where to start, what to report and how often to poll.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once; a failure that is not retryable, such as `auth`;
 *   `badResponse` for a reorganization deeper than `reorgDepth`.
 * @throws The signal's own reason if you abort it.
 * @example
 * for await (const event of watchBlocks(client)) {
 *   if (event.type === 'block') console.log(event.block.number, event.block.hash)
 *   else console.log(event.depth, 'blocks were removed')
 * }
 */
export function watchBlocks(
  client: WatchClient,
  options?: WatchBlocksOptions & { readonly includeTransactions?: false | undefined },
): AsyncGenerator<BlockEvent, void, undefined>
export function watchBlocks(
  client: WatchClient,
  options: WatchBlocksOptions & { readonly includeTransactions: true },
): AsyncGenerator<BlockEvent<Transaction>, void, undefined>
export function watchBlocks(
  client: WatchClient,
  options: WatchBlocksOptions,
): AsyncGenerator<BlockEvent | BlockEvent<Transaction>, void, undefined>
export function watchBlocks(
  client: WatchClient,
  options: WatchBlocksOptions = {},
): AsyncGenerator<BlockEvent<Hex | Transaction>, void, undefined> {
  checkWatchOptions('watchBlocks', options, ['includeTransactions', 'emitMissedBlocks'])
  const { includeTransactions = false, emitMissedBlocks = true } = options
  checkType('includeTransactions', includeTransactions, 'boolean')
  checkType('emitMissedBlocks', emitMissedBlocks, 'boolean')
  return runAbortable(options.signal, async function* (signal) {
    const reader = client.with({ signal, priority: 'poll' })
    const steps = followChain(reader, {
      ...options,
      signal,
      skipMissed: !emitMissedBlocks,
      read: (block): Promise<Block<Hex | Transaction> | null> => getBlock(reader, { block, includeTransactions }),
      load: async () => {},
    })
    for await (const step of steps) {
      if (step.type === 'block') yield { type: 'block', block: step.block }
      else if (step.type === 'reorg') {
        const removed = step.removed.map(({ number, hash, parentHash, timestamp }) => ({
          number,
          hash,
          parentHash,
          timestamp,
        }))
        yield { type: 'reorg', removed, depth: removed.length }
      }
    }
  })
}
