import type { CallOptions } from '@keyrail/core'
import { decodeNumber } from '../decode/decodeNumber.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns the chain ID of the node's chain.
 *
 * @param client - A client.
 * @param options - Call options such as `signal` and `timeoutMs`.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` if the response is not a quantity, otherwise the
 *   failure of the call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const chainId = await getChainId(client) // 1
 * @see EIP-695
 */
export async function getChainId(client: ReadClient<'eth_chainId'>, options: CallOptions = {}): Promise<number> {
  const reader = bindCallOptions('getChainId', client, options)
  return decodeNumber(await reader.eth_chainId(), 'chain id')
}
