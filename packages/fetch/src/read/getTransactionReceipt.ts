import type { CallOptions, Hex } from '@keyrail/core'
import { decodeReceipt } from '../decode/decodeReceipt.ts'
import type { TransactionReceipt } from '../decode/transactionReceipt.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns the receipt of a mined transaction. To wait for it, use `waitForTransactionReceipt`.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.hash - The transaction's hash.
 * @returns The receipt; null if the transaction is not mined or not known.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const receipt = await getTransactionReceipt(client, { hash })
 * console.log(receipt?.status, receipt?.gasUsed)
 */
export async function getTransactionReceipt(
  client: ReadClient<'eth_getTransactionReceipt'>,
  options: CallOptions & { readonly hash: Hex },
): Promise<TransactionReceipt | null> {
  const reader = bindCallOptions('getTransactionReceipt', client, options, ['hash'])
  const wire = await reader.eth_getTransactionReceipt(encodeHex(options.hash, 'hash', 32))
  // Some nodes return a receipt for a moment before they know its block.
  return wire === null || wire.blockHash === null || wire.blockNumber === null ? null : decodeReceipt(wire)
}
