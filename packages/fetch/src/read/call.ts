import type { CallOptions, Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeTransaction, transactionNames } from '../encode/encodeTransaction.ts'
import type { TransactionInput } from '../encode/transactionInput.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/** Options of {@link call}: the transaction, the block and the call options. */
export interface CallInput extends TransactionInput, CallOptions {
  /** The block whose state to use: a number, a tag or a hash. @default 'latest' */
  readonly block?: BlockInput | undefined
}

/**
 * Runs a contract call without sending a transaction. For state overrides use `client.eth_call`.
 *
 * @param client - A client.
 * @param options - The transaction to run, the block whose state to use, and call options such as `signal` and `timeoutMs`.
 * @returns The data that the contract returned, ABI-encoded.
 * @throws {KeyrailError} kind `revert` if the contract reverted, with its data in `rpcError.data`; `invalidRequest` for a wrong
 *   option; `badResponse` for a malformed response; otherwise the failure of the call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const totalSupply = BigInt(await call(client, { to: account, data: '0x18160ddd', timeoutMs: 2_000 }))
 */
export async function call(client: ReadClient<'eth_call'>, options: CallInput): Promise<Hex> {
  const reader = bindCallOptions('call', client, options, [...transactionNames, 'block'])
  return decodeHex(await reader.eth_call(encodeTransaction(options), encodeBlock(options.block)), 'call result')
}
