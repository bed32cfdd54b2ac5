import { checkNames, resolveTransport } from '@keyrail/core/internal'
import { safeWrites } from '@keyrail/core'
import type { Transport, TransportOptions } from '@keyrail/core'
import { createTransport, keccak256 } from 'viem'
import type { EIP1193RequestFn } from 'viem'
import type { KeyrailTransport, KeyrailTransportConfig } from './keyrailTransport.ts'
import { toViemError } from './toViemError.ts'

interface Asked {
  readonly method: string
  readonly params?: unknown
}

/**
 * Creates a viem transport. Transactions are sent with safe writes, by viem's own `keccak256`; `safeWrites: false` turns that off.
 *
 * @param options - The options of `createTransport`; or a transport, which is used as it is, can serve several libraries at once, and is yours to
 * close.
 * @param config - What viem's own transports take.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, naming it and how to fix it. Calls fail with what viem's own `http` throws:
 * `RpcRequestError`, `HttpRequestError` and `TimeoutError`, each with the redacted URL in place of the URL and with `failure`, the Keyrail
 * failure; the signal's own reason if the caller aborted.
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
export function keyrail<Network extends string = string>(
  options: TransportOptions<Network> | Transport,
  config: KeyrailTransportConfig = {},
): KeyrailTransport {
  const { transport } = resolveTransport(options, { safeWrites: safeWrites({ keccak256 }) }, 'keyrail')
  checkNames('the second argument of keyrail', config, ['key', 'name', 'methods', 'retryCount'])
  const { key = 'keyrail', name = 'Keyrail', methods } = config
  const { redactedUrl } = transport
  // What is kept is kept out here: viem makes a transport anew for each client, and `fallback` for each call.
  return ({ retryCount, timeout }) => {
    const retries = config.retryCount ?? retryCount
    const request = async (
      { method, params }: Asked,
      options?: { readonly signal?: AbortSignal | undefined },
    ): Promise<unknown> => {
      const args = { method, params: params as readonly unknown[] | undefined }
      const signal = options?.signal
      try {
        return await transport.request(
          args,
          signal || retries !== undefined || timeout ? { signal, retries, timeoutMs: timeout || undefined } : undefined,
        )
      } catch (error) {
        throw toViemError(error, args)
      }
    }
    // Its own retries are off, because two of them multiply.
    const settings = { key, name, methods, retryCount: 0, timeout, type: 'keyrail' } as const
    const made = createTransport({ ...settings, request: request as EIP1193RequestFn }, { redactedUrl })
    const asked = made.request as (args: Asked, options?: object) => Promise<unknown>
    const plain = retries !== undefined || timeout ? { retries, timeoutMs: timeout || undefined } : undefined
    return {
      ...made,
      request: methods
        ? made.request
        : async (args: Asked, options?: object): Promise<unknown> => {
            if (options) return asked(args, options)
            try {
              return await transport.request(args as { method: string; params?: readonly unknown[] }, plain)
            } catch (error) {
              // What viem makes a call go through costs more than one of a batch does, and only a failure needs it: it is named there.
              const fail = (): Promise<never> => Promise.reject(toViemError(error, args) as Error)
              return createTransport({ ...settings, request: fail }).request(args as never)
            }
          },
    } as ReturnType<KeyrailTransport>
  }
}
