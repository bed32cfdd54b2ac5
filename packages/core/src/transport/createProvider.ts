import { toRevert } from '../failure/toRevert.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import { getNodeSubscriptions } from '../subscribe/getNodeSubscriptions.ts'
import type { RequestArguments } from './call/call.ts'
import type { Transport } from './transport.ts'

/** A failure as EIP-1193 specifies it: with a `code`, and the `data` of a revert. It is also a {@link KeyrailError}. */
export type ProviderRpcError = KeyrailError & { readonly code: number; readonly data?: unknown }

/** A `message` event of a provider: what a subscription reports. */
export interface ProviderMessage {
  readonly type: 'eth_subscription'
  readonly data: { readonly subscription: string; readonly result: unknown }
}

/** An EIP-1193 provider. */
export interface Provider {
  /**
   * @param args - `{ method, params }`.
   * @returns The `result` of the response.
   * @throws {ProviderRpcError}
   */
  readonly request: (args: {
    readonly method: string
    readonly params?: readonly unknown[] | Readonly<Record<string, unknown>> | undefined
  }) => Promise<unknown>
  /**
   * Listens to an event. There are `message`, for each notification of `eth_subscribe`, and `disconnect`, with the failure that ended a
   * subscription; both only if the transport was created with `webSocket`.
   */
  readonly on: (event: string, listener: (...args: never[]) => void) => Provider
  readonly removeListener: (event: string, listener: (...args: never[]) => void) => Provider
}

const toErrorCode = ({ kind, rpcError }: KeyrailError): number => {
  if (kind === 'methodUnavailable') return 4200
  if (kind === 'network' || kind === 'aborted') return 4900
  if (rpcError) return rpcError.code
  return kind === 'auth' || kind === 'forbidden' ? 4100 : kind === 'invalidRequest' ? -32_602 : -32_603
}

/**
 * Adds the `code` and `data` of EIP-1193 to a failure, and uses the node's own message, from which libraries decode errors. The code of a revert is 3
 * in any form that nodes use, of an unknown method 4200, of a closed or disconnected transport 4900, of a rejected key 4100.
 *
 * @param error - What a transport rejected with. Anything but a Keyrail failure is returned as it is.
 */
export function toProviderRpcError(error: unknown): unknown {
  if (!isKeyrailError(error)) return error
  const { rpcError } = error
  const shown = rpcError && (error.kind === 'revert' ? toRevert(rpcError) : rpcError)
  const code = error.kind === 'revert' && shown ? shown.code : toErrorCode(error)
  return Object.assign(new KeyrailError(shown?.message ?? error.message, error), {
    code,
    ...(shown?.data !== undefined && { data: shown.data }),
  })
}

/**
 * Creates an EIP-1193 provider over a transport, for any library without an adapter of its own. A transport itself is not a provider: its
 * errors have no `code` and no `data`, so libraries cannot decode a revert.
 *
 * If the transport has `webSocket`, `eth_subscribe` works: it reports by `message` events, misses nothing while it reconnects, and reports removed
 * logs after a reorganization. Without it, the method goes to the node, which rejects it over HTTP.
 *
 * @param transport - Sends the calls. Close it yourself.
 * @returns A provider whose `request` rejects with a {@link ProviderRpcError}.
 * @example
 * // viem: custom(provider, { retryCount: 0 }); ethers: new BrowserProvider(provider); web3.js: new Web3(provider)
 * const provider = createProvider(createTransport({ url: 'http://127.0.0.1:8545' }))
 * const block = await provider.request({ method: 'eth_blockNumber' })
 * @see EIP-1193
 */
export function createProvider(transport: Transport): Provider {
  const subscriptions = getNodeSubscriptions(transport)?.createProviderSubscriptions()
  const provider: Provider = {
    request: async ({ method, params }) => {
      try {
        return await (subscriptions?.request(method, params) ??
          transport.request({ method, params } as RequestArguments))
      } catch (error) {
        throw toProviderRpcError(error)
      }
    },
    on: (event, listener) => {
      subscriptions?.on(event, listener)
      return provider
    },
    removeListener: (event, listener) => {
      subscriptions?.removeListener(event, listener)
      return provider
    },
  }
  return Object.freeze(provider)
}
