import { decodeQuantity } from '../decode/decodeQuantity.ts'
import type { ReadClient } from './readClient.ts'

/**
 * The number of the latest block.
 *
 * @param client - A client.
 * @throws {KeyrailError} kind `badResponse` for an answer that is no quantity; else as the call.
 * @example
 * const number = await getBlockNumber(client) // 21_000_000n
 */
export async function getBlockNumber(client: ReadClient<'eth_blockNumber'>): Promise<bigint> {
  return decodeQuantity(await client.eth_blockNumber(), 'block number')
}
