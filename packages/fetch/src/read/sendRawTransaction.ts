import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Sends a signed transaction to the node's pool. To wait until it is mined, see `waitForTransactionReceipt`.
 *
 * @param client - A client.
 * @param options.transaction - The signed transaction, encoded.
 * @returns Its hash.
 * @throws {KeyrailError} kind `txRejected` where the pool refuses it, `txKnown` where it is there already, `unconfirmed` where
 *   it is not known whether it arrived; `invalidRequest` for a wrong option, `badResponse` for a broken answer; else as the call.
 * @example
 * const hash = await sendRawTransaction(client, { transaction: '0x02f8…' })
 * const receipt = await waitForTransactionReceipt(client, { hash })
 */
export async function sendRawTransaction(
  client: ReadClient<'eth_sendRawTransaction'>,
  options: { readonly transaction: Hex },
): Promise<Hex> {
  checkNames('sendRawTransaction', options, ['transaction'])
  const transaction = encodeHex(options.transaction, 'transaction')
  return decodeHex(await client.eth_sendRawTransaction(transaction), 'transaction hash', 32)
}
