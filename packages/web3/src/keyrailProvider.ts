import { isKeyrailError, safeWrites } from '@keyrail/core'
import { getNodeSubscriptions, resolveTransport, toProviderRpcError } from '@keyrail/core/internal'
import type { TransportOptions, Transport } from '@keyrail/core'
import { Web3BaseProvider } from 'web3-types'
import type { Eip1193Compatible, EthExecutionAPI, Web3ProviderStatus } from 'web3-types'
import { sha3Raw } from 'web3-utils'
import { toErrorResponse } from './toErrorResponse.ts'
import type { RpcResponse, Payload } from './toErrorResponse.ts'

const keccak256 = (hex: `0x${string}`): `0x${string}` => sha3Raw(hex) as `0x${string}`

const ignore = (): void => {}

/**
 * A web3.js 4 provider that sends its requests through Keyrail. Contracts, units and errors work as with web3's own providers.
 *
 * @example
 * import { Web3 } from 'web3'
 *
 * const { KEYRAIL_API_KEY: apiKey = '' } = process.env
 * const web3 = new Web3(new KeyrailProvider({ baseUrl: 'https://node.example/testnet', apiKey }))
 * console.log(await web3.eth.getBlockNumber())
 */
export class KeyrailProvider extends Web3BaseProvider<EthExecutionAPI> {
  /** Sends one call or a batch, and returns a JSON-RPC response with the id of each call. Works detached from the provider. */
  readonly request: Web3BaseProvider<EthExecutionAPI>['request']
  /** The URL without its key. Safe to print. */
  readonly redactedUrl: string
  /** Ends the subscriptions. Closes the transport if this provider created it, which ends its calls in flight. */
  readonly disconnect: () => void
  /** Whether the transport has `webSocket`. Without it, web3 polls. */
  declare readonly supportsSubscriptions: () => boolean
  /**
   * Listens to `message`, for each notification of a subscription, or to `disconnect`, with the failure that ended one. Both exist only if the transport
   * has `webSocket`.
   */
  declare readonly on: Web3BaseProvider['on']
  declare readonly once: Web3BaseProvider['once']
  declare readonly removeListener: Web3BaseProvider['removeListener']
  declare readonly removeAllListeners: NonNullable<Web3BaseProvider['removeAllListeners']>
  /** Returns this provider as an EIP-1193 provider, which returns bare results and fails with errors that have `code` and `data`. */
  override readonly asEIP1193Provider: () => Eip1193Compatible<EthExecutionAPI>

  /**
   * @param options - The options of `createTransport`, or a transport that you created. It can serve several libraries at once, and
   * `disconnect()` leaves it open. A `network` that is not in the record of URLs is rejected at run time only: unlike `createTransport`, a
   * class cannot infer the names.
   * @throws {KeyrailError} kind `invalidRequest` for a wrong option. The message names the option and how to fix it.
   */
  constructor(options: TransportOptions | Transport) {
    super()
    const { transport, release } = resolveTransport(
      options,
      { safeWrites: safeWrites({ keccak256 }) },
      'KeyrailProvider',
    )
    const subscriptions = getNodeSubscriptions(transport)?.createProviderSubscriptions()
    const call = (method: string, params: unknown): Promise<unknown> =>
      subscriptions?.request(method, params) ?? transport.request({ method, params: params as unknown[] })
    const send = async ({ id, method, params }: Payload): Promise<RpcResponse> => {
      try {
        return { jsonrpc: '2.0', id, result: await call(method, params) }
      } catch (error) {
        return toErrorResponse(error, id)
      }
    }
    const sendOfBatch = async (payload: Payload): Promise<RpcResponse> => {
      try {
        return await send(payload)
      } catch (error) {
        // web3 would fail the whole batch if this rejected.
        if (!isKeyrailError(error)) throw error
        return {
          jsonrpc: '2.0',
          id: payload.id,
          error: { code: error.rpcError?.code ?? -32_603, message: error.message },
        }
      }
    }
    this.redactedUrl = transport.redactedUrl
    this.disconnect = () => {
      subscriptions?.close()
      release()
    }
    this.on = subscriptions?.on ?? ignore
    this.once = subscriptions?.once ?? ignore
    this.removeListener = subscriptions?.removeListener ?? ignore
    this.removeAllListeners = subscriptions?.removeAllListeners ?? ignore
    this.supportsSubscriptions = () => subscriptions !== undefined
    // A function that needs no `this`, because web3 calls it detached, and on an object that only inherits from this one.
    this.request = ((payload: Payload | Payload[]) =>
      Array.isArray(payload) ? Promise.all(payload.map(sendOfBatch)) : send(payload)) as never
    this.asEIP1193Provider = () =>
      Object.assign(Object.create(this) as Eip1193Compatible<EthExecutionAPI>, {
        asEIP1193Provider: undefined,
        request: async ({ method, params }: Payload) => {
          try {
            return await call(method, params)
          } catch (error) {
            throw toProviderRpcError(error)
          }
        },
      })
  }

  getStatus(): Web3ProviderStatus {
    return 'connected'
  }

  connect(): void {}
  reset(): void {}
}
