import { decodeNumber } from '../decode/decodeNumber.ts'
import type { ReadClient } from './readClient.ts'

/**
 * The id of the node's chain.
 *
 * @param client - A client.
 * @throws {KeyrailError} kind `badResponse` for an answer that is no quantity; else as the call.
 * @example
 * const chainId = await getChainId(client) // 1
 * @see EIP-695
 */
export async function getChainId(client: ReadClient<'eth_chainId'>): Promise<number> {
  return decodeNumber(await client.eth_chainId(), 'chain id')
}
