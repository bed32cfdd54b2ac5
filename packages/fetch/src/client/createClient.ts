import { resolveTransport } from '@keyrail/core/internal'
import type { CallOptions, EthereumRpc, RequestArguments, Transport, TransportOptions } from '@keyrail/core'
import type { Client } from './client.ts'
import { setClientTransport } from './clientTransport.ts'
import { withLatestBlock } from './withLatestBlock.ts'

/**
 * Creates a client.
 *
 * A property is a method if its name has a lowercase prefix and an underscore (`eth_call`, `my_method`) or if you declare it. Anything
 * else, such as `then` or `toJSON`, is undefined, so awaiting, printing or comparing a client never sends a request. Methods work
 * detached from the client.
 *
 * `client.close()` closes the transport only if this function created it. A transport that you pass in may serve other libraries too,
 * so it stays open and the client keeps working: call `transport.close()` once, when the last user is done.
 *
 * @param options - The options of `createTransport`, or a transport that you created, which can serve several libraries at once.
 * @param declared - Names of your own methods that contain no underscore. @default []
 * @returns A client with the methods of Ethereum. Add more with `createClient<MyMethods>(…)`: those of a chain, a bundler or a provider. They are
 *   never inferred from where the client is used, so you can create a client inline as an argument. `network` must be a name in the record
 *   of URLs or chain ids: the compiler checks it unless you name `Methods`, and `createClient` always does.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option. The message names the option and how to fix it.
 * @example
 * const { KEYRAIL_API_KEY: apiKey = '' } = process.env
 * const client = createClient({ baseUrl: 'https://node.example.com', apiKey })
 * const number = await client.eth_blockNumber()
 */
export function createClient<Methods = EthereumRpc, Network extends string = string>(
  options: TransportOptions<Network> | Transport,
  declared: readonly string[] = [],
): Client<NoInfer<EthereumRpc & Methods>> {
  const { transport, release } = resolveTransport(options, undefined, 'createClient')
  const bind = (bound?: CallOptions): object => {
    const request = (args: RequestArguments, callOptions?: CallOptions): Promise<unknown> =>
      transport.request(withLatestBlock(args), callOptions ? { ...bound, ...callOptions } : bound)
    const methods: Record<PropertyKey, unknown> = { __proto__: null }
    const parts: Record<PropertyKey, unknown> = Object.freeze({
      __proto__: null,
      redactedUrl: transport.redactedUrl,
      request,
      with: (callOptions: CallOptions) => bind({ ...bound, ...callOptions }),
      close: release,
      [Symbol.asyncDispose]: async () => release(),
    })
    const client = new Proxy(parts, {
      get: (_, name) =>
        parts[name] ??
        methods[name] ??
        (/^[a-z][A-Za-z0-9]*_/.test(String(name)) || declared.includes(name as string)
          ? (methods[name] = (...params: unknown[]) => request({ method: name as string, params }))
          : undefined),
      deleteProperty: () => false,
    })
    setClientTransport(client, transport, bound)
    return client
  }
  return bind() as Client<EthereumRpc & Methods>
}
