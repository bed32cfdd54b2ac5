import type { CallOptions, Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Sends a signed transaction to the node's transaction pool. To wait until it is mined, use `waitForTransactionReceipt`.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.transaction - The signed transaction, encoded.
 * @returns The transaction's hash.
 * @throws {KeyrailError} kind `txRejected` if the pool rejects it, `txKnown` if the pool already has it, `unconfirmed` if it is unknown
 *   whether it arrived, `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the call.
 * @throws The signal's own reason if you abort it. The transaction may have been sent all the same.
 * @example
 * const hash = await sendRawTransaction(client, { transaction: '0x02f8…' })
 * const receipt = await waitForTransactionReceipt(client, { hash })
 */
export async function sendRawTransaction(
  client: ReadClient<'eth_sendRawTransaction'>,
  options: CallOptions & { readonly transaction: Hex },
): Promise<Hex> {
  const sender = bindCallOptions('sendRawTransaction', client, options, ['transaction'])
  const transaction = encodeHex(options.transaction, 'transaction')
  return decodeHex(await sender.eth_sendRawTransaction(transaction), 'transaction hash', 32)
}
