import type { CallOptions } from '@keyrail/core'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns the number of the latest block.
 *
 * @param client - A client.
 * @param options - Call options such as `signal` and `timeoutMs`.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` if the response is not a quantity, otherwise the
 *   failure of the call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const number = await getBlockNumber(client) // 21_000_000n
 */
export async function getBlockNumber(
  client: ReadClient<'eth_blockNumber'>,
  options: CallOptions = {},
): Promise<bigint> {
  const reader = bindCallOptions('getBlockNumber', client, options)
  return decodeQuantity(await reader.eth_blockNumber(), 'block number')
}
