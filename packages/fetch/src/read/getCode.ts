import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import type { ReadClient } from './readClient.ts'

/**
 * The code of a contract.
 *
 * @param client - A client.
 * @param options.address - The contract.
 * @param options.block - At which block: a number, a tag or a hash. @default 'latest'
 * @returns The code; `0x` where the account has none.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a broken answer; else as the call.
 * @example
 * const isContract = (await getCode(client, { address: account })) !== '0x'
 */
export async function getCode(
  client: ReadClient<'eth_getCode'>,
  options: { readonly address: Hex; readonly block?: BlockInput | undefined },
): Promise<Hex> {
  checkNames('getCode', options, ['address', 'block'])
  const address = encodeHex(options.address, 'address', 20)
  return decodeHex(await client.eth_getCode(address, encodeBlock(options.block)), 'code')
}
