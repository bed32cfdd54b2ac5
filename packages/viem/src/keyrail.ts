import { checkNames, expectChain, getNodeSubscriptions, resolveTransport } from '@keyrail/core/internal'
import { safeWrites } from '@keyrail/core'
import type { Transport, TransportOptions, WebSocketFeature } from '@keyrail/core'
import { createTransport, keccak256 } from 'viem'
import type { EIP1193RequestFn } from 'viem'
import type { KeyrailTransport, KeyrailTransportConfig, KeyrailWebSocketTransport } from './keyrailTransport.ts'
import { toViemError } from './toViemError.ts'

interface RpcCall {
  readonly method: string
  readonly params?: unknown
}

/**
 * Creates a viem transport. `chainId` defaults to that of the client's `chain`: a response from another chain fails with kind `wrongNetwork`. Transactions are sent with safe writes, which use viem's `keccak256`; `safeWrites: false` turns that off.
 *
 * @param options - The options of `createTransport`, or a transport that you created and close. It can serve several libraries at once.
 * @param config - Options of viem's own transports.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option. The message names the option and how to fix it. Calls fail with the errors
 * of viem's `http`: `RpcRequestError`, `HttpRequestError` and `TimeoutError`. Each has the redacted URL instead of the URL, and the
 * `KeyrailError` in `failure`. An aborted call rejects with the signal's reason.
 * @example
 * import { createPublicClient } from 'viem'
 * import { sepolia } from 'viem/chains'
 *
 * const { KEYRAIL_API_KEY: apiKey = '' } = process.env
 * const client = createPublicClient({
 *   chain: sepolia,
 *   transport: keyrail({ baseUrl: 'https://node.example/testnet', apiKey }),
 * })
 * const block = await client.getBlockNumber()
 */
export function keyrail<Network extends string = string>(
  options: TransportOptions<Network> & { readonly webSocket: WebSocketFeature },
  config?: KeyrailTransportConfig,
): KeyrailWebSocketTransport
export function keyrail<Network extends string = string>(
  options: TransportOptions<Network> | Transport,
  config?: KeyrailTransportConfig,
): KeyrailTransport
export function keyrail(options: TransportOptions | Transport, config: KeyrailTransportConfig = {}): KeyrailTransport {
  const { transport } = resolveTransport(options, { safeWrites: safeWrites({ keccak256 }) }, 'keyrail')
  checkNames('the second argument of keyrail', config, ['key', 'name', 'methods', 'retryCount'])
  const { key = 'keyrail', name = 'Keyrail', methods } = config
  const { redactedUrl } = transport
  const subscriptions = getNodeSubscriptions(transport)?.createWatcherSubscriptions(toViemError)
  const value = { redactedUrl, ...(subscriptions && { subscribe: subscriptions.subscribe }) }
  // The state is created above, once: viem calls this function for each client, and `fallback` calls it for each request.
  return ({ chain, retryCount, timeout }) => {
    if (chain) expectChain(transport, chain.id, `the chain of the viem client (${chain.name})`)
    const retries = config.retryCount ?? retryCount
    const callOptions = retries !== undefined || timeout ? { retries, timeoutMs: timeout || undefined } : undefined
    const request = async (
      { method, params }: RpcCall,
      options?: { readonly signal?: AbortSignal | undefined },
    ): Promise<unknown> => {
      const args = { method, params: params as readonly unknown[] | undefined }
      const signal = options?.signal
      try {
        return await (subscriptions?.readReported(method, params) ??
          transport.request(args, signal ? { ...callOptions, signal } : callOptions))
      } catch (error) {
        throw toViemError(error, args)
      }
    }
    // viem's own retries are off, because they would multiply with the transport's.
    const settings = {
      key,
      name,
      methods,
      retryCount: 0,
      timeout,
      type: subscriptions ? 'webSocket' : 'keyrail',
    } as const
    const created = createTransport({ ...settings, request: request as EIP1193RequestFn }, value)
    const viemRequest = created.request as (args: RpcCall, options?: object) => Promise<unknown>
    return {
      ...created,
      request: methods
        ? created.request
        : async (args: RpcCall, options?: object): Promise<unknown> => {
            if (options) return viemRequest(args, options)
            try {
              return await transport.request(args as { method: string; params?: readonly unknown[] }, callOptions)
            } catch (error) {
              // viem's request costs more than a call of a batch, so only failures go through it: it wraps them in viem's errors.
              const fail = (): Promise<never> => Promise.reject(toViemError(error, args) as Error)
              return createTransport({ ...settings, request: fail }).request(args as never)
            }
          },
    } as ReturnType<KeyrailTransport>
  }
}
