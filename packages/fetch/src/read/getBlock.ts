import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import type { Block, PendingBlock } from '../decode/block.ts'
import { decodeBlock, decodePendingBlock } from '../decode/decodeBlock.ts'
import { decodeTransaction } from '../decode/decodeTransaction.ts'
import type { Transaction } from '../decode/transaction.ts'
import type { BlockInput, MinedBlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import type { ReadClient } from './readClient.ts'

type Client = ReadClient<'eth_getBlockByNumber' | 'eth_getBlockByHash'>

/** Options of {@link getBlock}. */
export interface GetBlockOptions {
  /** Which block: a number, a tag or a hash. @default 'latest' */
  readonly block?: BlockInput | undefined
  /** Whole transactions in place of their hashes. @default false */
  readonly transactions?: boolean | undefined
}

/**
 * A block by number, tag or hash, with the hashes of its transactions or with the transactions whole.
 *
 * @param client - A client.
 * @param options - Which block, and how much of it.
 * @returns The block; null where there is none (yet). Of `pending`, what is not settled may be null.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a broken answer; else as the call.
 * @example
 * const latest = await getBlock(client)
 * const whole = await getBlock(client, { block: 21_000_000n, transactions: true })
 * console.log(latest?.timestamp, whole?.transactions[0]?.value)
 */
export function getBlock(
  client: Client,
  options?: { readonly block?: MinedBlockInput | undefined; readonly transactions?: false | undefined },
): Promise<Block | null>
export function getBlock(
  client: Client,
  options: { readonly block?: MinedBlockInput | undefined; readonly transactions: true },
): Promise<Block<Transaction> | null>
export function getBlock(
  client: Client,
  options: { readonly block?: MinedBlockInput | undefined; readonly transactions?: boolean | undefined },
): Promise<Block | Block<Transaction> | null>
export function getBlock(
  client: Client,
  options: { readonly block: 'pending'; readonly transactions?: false | undefined },
): Promise<PendingBlock | null>
export function getBlock(
  client: Client,
  options: { readonly block: 'pending'; readonly transactions: true },
): Promise<PendingBlock<Transaction> | null>
export function getBlock(
  client: Client,
  options: GetBlockOptions,
): Promise<Block | Block<Transaction> | PendingBlock | PendingBlock<Transaction> | null>
export async function getBlock(
  client: Client,
  options: GetBlockOptions = {},
): Promise<Block | Block<Transaction> | PendingBlock | PendingBlock<Transaction> | null> {
  checkNames('getBlock', options, ['block', 'transactions'])
  const block = encodeBlock(options.block)
  const whole = options.transactions ?? false
  const wire =
    block.length === 66
      ? await client.eth_getBlockByHash(block as Hex, whole)
      : await client.eth_getBlockByNumber(block, whole)
  if (wire === null) return null
  const decode = block === 'pending' ? decodePendingBlock : decodeBlock
  return whole ? decode(wire, decodeTransaction) : decode(wire)
}
