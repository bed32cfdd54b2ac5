import { resolveTransport } from '@keyrail/core/internal'
import type { EthereumRpc, TransportOptions, Transport } from '@keyrail/core'
import type { Client } from './client.ts'
import { clientOf } from './clientOf.ts'

/**
 * Makes a client: the full door, with every layer of the transport.
 *
 * Closing the client closes its transport, a given one too; see {@link clientOf} for why.
 *
 * @param options - The address and how to call it; or a transport, which is used as it is and can stand behind several libraries at once.
 * @param declared - Names of your own methods that hold no underscore. @default []
 * @returns A client of the schema `Rpc`. Add methods of your own with `createClient<EthereumRpc & MyMethods>(…)`: the schema is never
 *   inferred from the place where the client is used, so that a client can be created inline as an argument.
 * @throws {KeyrailError} of kind `invalidRequest` for a wrong option, naming it and the mend.
 * @example
 * const client = createClient({ baseUrl: 'https://node.example.com', apiKey })
 * const number = await client.eth_blockNumber()
 */
export function createClient<Rpc = EthereumRpc>(
  options: TransportOptions | Transport,
  declared?: readonly string[],
): Client<NoInfer<Rpc>> {
  return clientOf<Rpc>(resolveTransport(options, undefined, 'createClient').transport, declared)
}
