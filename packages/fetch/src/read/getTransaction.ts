import type { CallOptions, Hex } from '@keyrail/core'
import { decodeTransaction } from '../decode/decodeTransaction.ts'
import type { Transaction } from '../decode/transaction.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns a transaction by its hash, mined or pending.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.hash - The transaction's hash.
 * @returns The transaction; null if the node does not know it.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const transaction = await getTransaction(client, { hash })
 * if (transaction?.type === 'eip1559') console.log(transaction.maxFeePerGas)
 */
export async function getTransaction(
  client: ReadClient<'eth_getTransactionByHash'>,
  options: CallOptions & { readonly hash: Hex },
): Promise<Transaction | null> {
  const reader = bindCallOptions('getTransaction', client, options, ['hash'])
  const wire = await reader.eth_getTransactionByHash(encodeHex(options.hash, 'hash', 32))
  return wire === null ? null : decodeTransaction(wire)
}
