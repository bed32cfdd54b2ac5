import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeReceipt } from '../decode/decodeReceipt.ts'
import type { TransactionReceipt } from '../decode/transactionReceipt.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import type { ReadClient } from './readClient.ts'

/**
 * The receipt of a mined transaction. To wait for it, see `waitForTransactionReceipt`.
 *
 * @param client - A client.
 * @param options.hash - The transaction's hash.
 * @returns The receipt; null where the transaction is not mined, or not known.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong hash, `badResponse` for a broken answer; else as the call.
 * @example
 * const receipt = await getTransactionReceipt(client, { hash })
 * console.log(receipt?.status, receipt?.gasUsed)
 */
export async function getTransactionReceipt(
  client: ReadClient<'eth_getTransactionReceipt'>,
  options: { readonly hash: Hex },
): Promise<TransactionReceipt | null> {
  checkNames('getTransactionReceipt', options, ['hash'])
  const wire = await client.eth_getTransactionReceipt(encodeHex(options.hash, 'hash', 32))
  return wire === null ? null : decodeReceipt(wire)
}
