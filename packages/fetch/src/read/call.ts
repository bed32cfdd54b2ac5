import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeTransaction, transactionNames } from '../encode/encodeTransaction.ts'
import type { TransactionInput } from '../encode/transactionInput.ts'
import type { ReadClient } from './readClient.ts'

/** Options of {@link call}. */
export interface CallInput extends TransactionInput {
  /** On the state of which block: a number, a tag or a hash. @default 'latest' */
  readonly block?: BlockInput | undefined
}

/**
 * Runs a contract without changing anything. For state overrides use `client.eth_call`.
 *
 * @param client - A client.
 * @param options - The transaction to run, and on which block.
 * @returns What the contract returned, ABI-encoded.
 * @throws {KeyrailError} kind `revert` where the contract reverted, its data in `rpcError.data`; `invalidRequest` for a wrong
 *   option, `badResponse` for a broken answer; else as the call.
 * @example
 * const totalSupply = BigInt(await call(client, { to: account, data: '0x18160ddd' }))
 */
export async function call(client: ReadClient<'eth_call'>, options: CallInput): Promise<Hex> {
  checkNames('call', options, [...transactionNames, 'block'])
  return decodeHex(await client.eth_call(encodeTransaction(options), encodeBlock(options.block)), 'call result')
}
