import { decodeQuantity } from '../decode/decodeQuantity.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeTransaction, transactionNames } from '../encode/encodeTransaction.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { CallInput } from './call.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Estimates how much gas a transaction needs.
 *
 * @param client - A client.
 * @param options - The transaction, the block whose state to use (the latest by default), and call options such as `signal` and
 *   `timeoutMs`.
 * @returns The gas limit to use.
 * @throws {KeyrailError} kind `revert` if the transaction would revert, with its data in `rpcError.data`; `invalidRequest` for a
 *   wrong option; `badResponse` for a malformed response; otherwise the failure of the call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const gas = await estimateGas(client, { from: account, to: account, value: 10n ** 18n })
 */
export async function estimateGas(client: ReadClient<'eth_estimateGas'>, options: CallInput): Promise<bigint> {
  const reader = bindCallOptions('estimateGas', client, options, [...transactionNames, 'block'])
  const block = options.block === undefined ? undefined : encodeBlock(options.block)
  return decodeQuantity(await reader.eth_estimateGas(encodeTransaction(options), block), 'gas estimate')
}
