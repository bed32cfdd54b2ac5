import { resolveTransport } from '@keyrail/core/internal'
import type { TransportOptions, Transport } from '@keyrail/core'
import { keccak256 } from 'viem'
import { keyrailOf } from './keyrailOf.ts'
import type { KeyrailTransport, KeyrailTransportConfig } from './keyrailTransport.ts'

/**
 * Makes a viem transport: the full door, with every layer, and with safe writes by viem's own `keccak256`.
 *
 * @param options - The address and how to call it; or a transport, which is used as it is and can stand behind several libraries at once.
 * @param config - What viem's own transports take.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, naming it and the mend.
 * @example
 * import { createPublicClient } from 'viem'
 * import { sepolia } from 'viem/chains'
 *
 * const client = createPublicClient({
 *   chain: sepolia,
 *   transport: keyrail({ baseUrl: 'https://node.example/testnet', apiKey, chainId: sepolia.id }),
 * })
 * const block = await client.getBlockNumber()
 */
export function keyrail(options: TransportOptions | Transport, config?: KeyrailTransportConfig): KeyrailTransport {
  return keyrailOf(resolveTransport(options, { keccak256 }, 'keyrail').transport, config)
}
