import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeTransaction } from '../decode/decodeTransaction.ts'
import type { Transaction } from '../decode/transaction.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import type { ReadClient } from './readClient.ts'

/**
 * A transaction by its hash, mined or pending.
 *
 * @param client - A client.
 * @param options.hash - The transaction's hash.
 * @returns The transaction; null where the node does not know it.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong hash, `badResponse` for a broken answer; else as the call.
 * @example
 * const transaction = await getTransaction(client, { hash })
 * if (transaction?.type === 'eip1559') console.log(transaction.maxFeePerGas)
 */
export async function getTransaction(
  client: ReadClient<'eth_getTransactionByHash'>,
  options: { readonly hash: Hex },
): Promise<Transaction | null> {
  checkNames('getTransaction', options, ['hash'])
  const wire = await client.eth_getTransactionByHash(encodeHex(options.hash, 'hash', 32))
  return wire === null ? null : decodeTransaction(wire)
}
