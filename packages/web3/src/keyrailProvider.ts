import { isKeyrailError, safeWrites } from '@keyrail/core'
import { toProviderRpcError, resolveTransport } from '@keyrail/core/internal'
import type { TransportOptions, Transport } from '@keyrail/core'
import { Web3BaseProvider } from 'web3-types'
import type { Eip1193Compatible, EthExecutionAPI, Web3ProviderStatus } from 'web3-types'
import { sha3Raw } from 'web3-utils'
import { toEnvelope } from './toEnvelope.ts'
import type { Envelope, Payload } from './toEnvelope.ts'

const keccak256 = (hex: `0x${string}`): `0x${string}` => sha3Raw(hex) as `0x${string}`

/**
 * A provider of web3.js 4 over Keyrail. Contracts, units and errors are web3's own; what travels does so by Keyrail.
 *
 * @example
 * import { Web3 } from 'web3'
 *
 * const web3 = new Web3(new KeyrailProvider({ baseUrl: 'https://node.example/testnet', apiKey }))
 * console.log(await web3.eth.getBlockNumber())
 */
export class KeyrailProvider extends Web3BaseProvider<EthExecutionAPI> {
  /** Makes one call, or those of a batch: each is answered by an envelope with its own id. Works detached. */
  readonly request: Web3BaseProvider<EthExecutionAPI>['request']
  /** What may be printed of the address: never holds the key. */
  readonly redactedUrl: string
  /** Ends the calls under way and closes the transport, where it is this provider's own. */
  readonly disconnect: () => void
  /** The same provider as EIP-1193 has it: bare results, and failures with `code` and `data`. */
  override readonly asEIP1193Provider: () => Eip1193Compatible<EthExecutionAPI>

  /**
   * @param options - The address and how to call it; or a transport, which is used as it is, can stand behind several libraries at once, and is
   * left open by `disconnect()`.
   * @throws {KeyrailError} kind `invalidRequest` for a wrong option, naming it and the mend.
   */
  constructor(options: TransportOptions | Transport) {
    super()
    const { transport, release } = resolveTransport(
      options,
      { safeWrites: safeWrites({ keccak256 }) },
      'KeyrailProvider',
    )
    const settle = async ({ id, method, params }: Payload): Promise<Envelope> => {
      try {
        return { jsonrpc: '2.0', id, result: await transport.request({ method, params: params as unknown[] }) }
      } catch (error) {
        return toEnvelope(error, id)
      }
    }
    const inBatch = async (payload: Payload): Promise<Envelope> => {
      try {
        return await settle(payload)
      } catch (error) {
        // One that never reached a node costs the others nothing.
        if (!isKeyrailError(error)) throw error
        return {
          jsonrpc: '2.0',
          id: payload.id,
          error: { code: error.rpcError?.code ?? -32_603, message: error.message },
        }
      }
    }
    this.redactedUrl = transport.redactedUrl
    this.disconnect = release
    // No field of the class, because web3 calls it detached, and through an object that only inherits from this one.
    this.request = ((payload: Payload | Payload[]) =>
      Array.isArray(payload) ? Promise.all(payload.map(inBatch)) : settle(payload)) as never
    this.asEIP1193Provider = () =>
      Object.assign(Object.create(this) as Eip1193Compatible<EthExecutionAPI>, {
        asEIP1193Provider: undefined,
        request: async ({ method, params }: Payload) => {
          try {
            return await transport.request({ method, params: params as unknown[] })
          } catch (error) {
            throw toProviderRpcError(error)
          }
        },
      })
  }

  getStatus(): Web3ProviderStatus {
    return 'connected'
  }

  /** Over HTTP there are none: web3 polls. */
  supportsSubscriptions(): boolean {
    return false
  }

  on(): void {}
  once(): void {}
  removeListener(): void {}
  removeAllListeners(): void {}
  connect(): void {}
  reset(): void {}
}
