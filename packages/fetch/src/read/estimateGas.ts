import { checkNames } from '@keyrail/core/internal'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeTransaction, transactionNames } from '../encode/encodeTransaction.ts'
import type { CallInput } from './call.ts'
import type { ReadClient } from './readClient.ts'

/**
 * How much gas a transaction would need.
 *
 * @param client - A client.
 * @param options - The transaction, and on which block: the latest by default.
 * @throws {KeyrailError} kind `revert` where it would revert, its data in `rpcError.data`; `invalidRequest` for a wrong
 *   option, `badResponse` for a broken answer; else as the call.
 * @example
 * const gas = await estimateGas(client, { from: account, to: account, value: 10n ** 18n })
 */
export async function estimateGas(client: ReadClient<'eth_estimateGas'>, options: CallInput): Promise<bigint> {
  checkNames('estimateGas', options, [...transactionNames, 'block'])
  const block = options.block === undefined ? undefined : encodeBlock(options.block)
  return decodeQuantity(await client.eth_estimateGas(encodeTransaction(options), block), 'gas estimate')
}
