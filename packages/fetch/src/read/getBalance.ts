import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import type { ReadClient } from './readClient.ts'

/**
 * What an account owns, in wei.
 *
 * @param client - A client.
 * @param options.address - The account.
 * @param options.block - At which block: a number, a tag or a hash. @default 'latest'
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a broken answer; else as the call.
 * @example
 * const wei = await getBalance(client, { address: '0x00000000219ab540356cBB839Cbe05303d7705Fa' })
 */
export async function getBalance(
  client: ReadClient<'eth_getBalance'>,
  options: { readonly address: Hex; readonly block?: BlockInput | undefined },
): Promise<bigint> {
  checkNames('getBalance', options, ['address', 'block'])
  const address = encodeHex(options.address, 'address', 20)
  return decodeQuantity(await client.eth_getBalance(address, encodeBlock(options.block)), 'balance')
}
