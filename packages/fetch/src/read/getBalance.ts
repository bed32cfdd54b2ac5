import type { CallOptions, Hex } from '@keyrail/core'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns the balance of an account, in wei.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.address - The account.
 * @param options.block - The block: a number, a tag or a hash. @default 'latest'
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const wei = await getBalance(client, { address: '0x00000000219ab540356cBB839Cbe05303d7705Fa' })
 */
export async function getBalance(
  client: ReadClient<'eth_getBalance'>,
  options: CallOptions & { readonly address: Hex; readonly block?: BlockInput | undefined },
): Promise<bigint> {
  const reader = bindCallOptions('getBalance', client, options, ['address', 'block'])
  const address = encodeHex(options.address, 'address', 20)
  return decodeQuantity(await reader.eth_getBalance(address, encodeBlock(options.block)), 'balance')
}
