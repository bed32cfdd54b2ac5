import type { CallOptions, Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns the code of a contract.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.address - The contract.
 * @param options.block - The block: a number, a tag or a hash. @default 'latest'
 * @returns The code; `0x` if the account has none.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const isContract = (await getCode(client, { address: account })) !== '0x'
 */
export async function getCode(
  client: ReadClient<'eth_getCode'>,
  options: CallOptions & { readonly address: Hex; readonly block?: BlockInput | undefined },
): Promise<Hex> {
  const reader = bindCallOptions('getCode', client, options, ['address', 'block'])
  const address = encodeHex(options.address, 'address', 20)
  return decodeHex(await reader.eth_getCode(address, encodeBlock(options.block)), 'code')
}
