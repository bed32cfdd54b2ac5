import type { CallOptions } from '@keyrail/core'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns the gas price that the node suggests, in wei per unit of gas.
 *
 * @param client - A client.
 * @param options - Call options such as `signal` and `timeoutMs`.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` if the response is not a quantity, otherwise the
 *   failure of the call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const gasPrice = await getGasPrice(client)
 */
export async function getGasPrice(client: ReadClient<'eth_gasPrice'>, options: CallOptions = {}): Promise<bigint> {
  const reader = bindCallOptions('getGasPrice', client, options)
  return decodeQuantity(await reader.eth_gasPrice(), 'gas price')
}
