import type { CallOptions, Hex } from '@keyrail/core'
import type { Block, PendingBlock } from '../decode/block.ts'
import { decodeBlock, decodePendingBlock } from '../decode/decodeBlock.ts'
import { decodeTransaction } from '../decode/decodeTransaction.ts'
import type { Transaction } from '../decode/transaction.ts'
import type { BlockInput, MinedBlockInput } from '../encode/blockInput.ts'
import { checkType } from '../encode/checkType.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

type Client = ReadClient<'eth_getBlockByNumber' | 'eth_getBlockByHash'>

/** Options of {@link getBlock}. */
export interface GetBlockOptions extends CallOptions {
  /** The block: a number, a tag or a hash. @default 'latest' */
  readonly block?: BlockInput | undefined
  /** Whether to return full transactions instead of their hashes. @default false */
  readonly includeTransactions?: boolean | undefined
}

interface MinedBlockOptions extends GetBlockOptions {
  readonly block?: MinedBlockInput | undefined
}

interface PendingBlockOptions extends GetBlockOptions {
  readonly block: 'pending'
}

interface WithHashes {
  readonly includeTransactions?: false | undefined
}

interface WithTransactions {
  readonly includeTransactions: true
}

/**
 * Returns a block by number, tag or hash, with the hashes of its transactions or with the full transactions.
 *
 * @param client - A client.
 * @param options - The block, whether to include its transactions, and call options such as `signal` and `timeoutMs`.
 * @returns The block; null if the node has no such block (yet). For `pending`, fields that are not known yet are null.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const latest = await getBlock(client, { timeoutMs: 2_000 })
 * const full = await getBlock(client, { block: 21_000_000n, includeTransactions: true })
 * console.log(latest?.timestamp, full?.transactions[0]?.value)
 */
export function getBlock(client: Client, options?: MinedBlockOptions & WithHashes): Promise<Block | null>
export function getBlock(
  client: Client,
  options: MinedBlockOptions & WithTransactions,
): Promise<Block<Transaction> | null>
export function getBlock(client: Client, options: MinedBlockOptions): Promise<Block | Block<Transaction> | null>
export function getBlock(client: Client, options: PendingBlockOptions & WithHashes): Promise<PendingBlock | null>
export function getBlock(
  client: Client,
  options: PendingBlockOptions & WithTransactions,
): Promise<PendingBlock<Transaction> | null>
export function getBlock(
  client: Client,
  options: GetBlockOptions,
): Promise<Block | Block<Transaction> | PendingBlock | PendingBlock<Transaction> | null>
export async function getBlock(
  client: Client,
  options: GetBlockOptions = {},
): Promise<Block | Block<Transaction> | PendingBlock | PendingBlock<Transaction> | null> {
  const reader = bindCallOptions('getBlock', client, options, ['block', 'includeTransactions'])
  const { includeTransactions = false } = options
  checkType('includeTransactions', includeTransactions, 'boolean')
  const block = encodeBlock(options.block)
  const wire =
    block.length === 66
      ? await reader.eth_getBlockByHash(block as Hex, includeTransactions)
      : await reader.eth_getBlockByNumber(block, includeTransactions)
  if (wire === null) return null
  if (block === 'pending')
    return includeTransactions ? decodePendingBlock(wire, decodeTransaction) : decodePendingBlock(wire)
  return includeTransactions ? decodeBlock(wire, decodeTransaction) : decodeBlock(wire)
}
