import type { CallOptions, EthereumRpc, RequestArguments, Transport } from '@keyrail/core'
import type { Client } from './client.ts'
import { withLatestBlock } from './withLatestBlock.ts'

/**
 * Makes a client of a transport: the small door, which brings in nothing but what the transport is made of.
 *
 * A property is a method if it looks like one (`eth_call`, `my_method`) or is declared; `then`, `toJSON` and anything else is
 * undefined, so that a client can be awaited, printed and compared without a call being made. Methods work detached.
 *
 * The client holds nothing but the transport, so closing it is closing the transport, also for whatever else stands on it: where several
 * share one transport, close that one, once, when the last is done. (Were a client to leave a transport open, `clientOf(compose(…))`
 * could never be closed. Closing too much is heard at once, as kind `aborted`; closing too little is never heard.)
 *
 * @param transport - Carries the calls.
 * @param declared - Names of methods without an underscore, which no rule could tell from a probe. @default []
 * @returns A client of the schema `Rpc`.
 * @example
 * const client = clientOf(compose(http({ url }), retry(), deadline()))
 * const number = await client.eth_blockNumber()
 */
export function clientOf<Rpc = EthereumRpc>(
  transport: Transport,
  declared: readonly string[] = [],
): Client<NoInfer<Rpc>> {
  const bind = (bound?: CallOptions): object => {
    const request = (args: RequestArguments, options?: CallOptions): Promise<unknown> =>
      transport.request(withLatestBlock(args), options ? { ...bound, ...options } : bound)
    const methods: Record<PropertyKey, unknown> = { __proto__: null }
    const parts: Record<PropertyKey, unknown> = Object.freeze({
      __proto__: null,
      redactedUrl: transport.redactedUrl,
      request,
      with: (options: CallOptions) => bind({ ...bound, ...options }),
      close: transport.close,
      [Symbol.asyncDispose]: transport[Symbol.asyncDispose],
    })
    return new Proxy(parts, {
      get: (_, name) =>
        parts[name] ??
        methods[name] ??
        (/^[a-z][A-Za-z0-9]*_/.test(String(name)) || declared.includes(name as string)
          ? (methods[name] = (...params: unknown[]) => request({ method: name as string, params }))
          : undefined),
      deleteProperty: () => false,
    })
  }
  return bind() as Client<Rpc>
}
