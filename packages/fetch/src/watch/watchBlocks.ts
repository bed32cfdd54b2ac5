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

/** What a watcher of blocks tells. `T` is what stands for a transaction. */
export type BlockEvent<T = Hex> =
  | { readonly type: 'block'; readonly block: Block<T> }
  /** Announced blocks that are no longer in the chain, newest first. Those in their place follow. */
  | { readonly type: 'reorg'; readonly removed: readonly BlockRef[]; readonly depth: number }

/** Options of {@link watchBlocks}. */
export interface WatchBlocksOptions extends WatchOptions {
  /** Whole transactions in place of their hashes. @default false */
  readonly includeTransactions?: boolean | undefined
  /** Whether blocks that came between two looks are told, too. Without them, what is told is no unbroken chain. @default true */
  readonly emitMissedBlocks?: boolean | undefined
}

/**
 * Watches the blocks of the chain, by polling.
 *
 * Each block is told once, in order, with none left out. After a reorganization the blocks that fell out of the chain are told first,
 * newest first, then those that took their place: what was told and not taken back is always one unbroken chain.
 * A look asks for the latest block and no more. Failures that may pass do not end the watch; looks never overlap, and none is made while
 * the last event is being dealt with. Leaving the loop stops it at once.
 *
 * @param client - A client.
 * @param options - Where to begin, what to tell, how often to look.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once; a failure that will not pass, such as `auth`;
 *   `badResponse` for a reorganization deeper than `reorgDepth`.
 * @throws The signal's own reason where the caller aborted.
 * @example
 * for await (const event of watchBlocks(client)) {
 *   if (event.type === 'block') console.log(event.block.number, event.block.hash)
 *   else console.log(event.depth, 'blocks were taken back')
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
  const { includeTransactions = false, emitMissedBlocks: emitMissedBlocks = true } = options
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
