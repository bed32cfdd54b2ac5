import { decodeQuantity } from '../decode/decodeQuantity.ts'
import type { ReadClient } from './readClient.ts'

/**
 * What the node would pay now, in wei for each unit of gas.
 *
 * @param client - A client.
 * @throws {KeyrailError} kind `badResponse` for an answer that is no quantity; else as the call.
 * @example
 * const gasPrice = await getGasPrice(client)
 */
export async function getGasPrice(client: ReadClient<'eth_gasPrice'>): Promise<bigint> {
  return decodeQuantity(await client.eth_gasPrice(), 'gas price')
}
