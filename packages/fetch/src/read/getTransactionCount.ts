import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeNumber } from '../decode/decodeNumber.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import type { ReadClient } from './readClient.ts'

/**
 * How many transactions an account has sent: the nonce of its next one.
 *
 * @param client - A client.
 * @param options.address - The account.
 * @param options.block - At which block: a number, a tag or a hash. `pending` counts what waits in the pool too. @default 'latest'
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a broken answer; else as the call.
 * @example
 * const nonce = await getTransactionCount(client, { address: account, block: 'pending' })
 */
export async function getTransactionCount(
  client: ReadClient<'eth_getTransactionCount'>,
  options: { readonly address: Hex; readonly block?: BlockInput | undefined },
): Promise<number> {
  checkNames('getTransactionCount', options, ['address', 'block'])
  const address = encodeHex(options.address, 'address', 20)
  return decodeNumber(await client.eth_getTransactionCount(address, encodeBlock(options.block)), 'transaction count')
}
