import type { CallOptions, Hex } from '@keyrail/core'
import { decodeNumber } from '../decode/decodeNumber.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns how many transactions an account has sent, which is the nonce of its next one.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.address - The account.
 * @param options.block - The block: a number, a tag or a hash. `pending` also counts the transactions in the pool. @default 'latest'
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const nonce = await getTransactionCount(client, { address: account, block: 'pending' })
 */
export async function getTransactionCount(
  client: ReadClient<'eth_getTransactionCount'>,
  options: CallOptions & { readonly address: Hex; readonly block?: BlockInput | undefined },
): Promise<number> {
  const reader = bindCallOptions('getTransactionCount', client, options, ['address', 'block'])
  const address = encodeHex(options.address, 'address', 20)
  return decodeNumber(await reader.eth_getTransactionCount(address, encodeBlock(options.block)), 'transaction count')
}
