import { isKeyrailError, safeWrites } from '@keyrail/core'
import { chainIdOf, checkNames, resolveTransport } from '@keyrail/core/internal'
import type { TransportOptions, Transport } from '@keyrail/core'
import { JsonRpcProvider, keccak256, makeError, Network } from 'ethers'
import type {
  AbstractProvider,
  JsonRpcApiProviderOptions,
  JsonRpcError,
  JsonRpcPayload,
  JsonRpcResult,
  Subscriber,
  Subscription,
} from 'ethers'
import { followLogs } from './followLogs.ts'
import { toEthersError } from './toEthersError.ts'

/**
 * What ethers' own providers take beside the address, as far as it is not Keyrail's business. `polling` is true by default: events come by ranges
 * of blocks; false asks for filters, which live in one node and work only where the address stands for no more than that.
 */
export type KeyrailProviderConfig = Pick<JsonRpcApiProviderOptions, 'polling' | 'pollingInterval' | 'cacheTimeout'>

const hash = (hex: `0x${string}`): `0x${string}` => keccak256(hex) as `0x${string}`

/**
 * A provider of ethers 6 over Keyrail. Contracts, signers, events and errors are ethers' own; what travels does so by Keyrail.
 *
 * The chain id is the one given, and else asked once: there is no loop that looks for the network, and a key that is wrong fails the first call.
 *
 * @example
 * const provider = new KeyrailProvider({ baseUrl: 'https://node.example/testnet', apiKey, chainId: 11155111 })
 * console.log(await provider.getBlockNumber())
 * provider.destroy()
 */
export class KeyrailProvider extends JsonRpcProvider {
  readonly #transport: Transport
  readonly #chainId: () => Promise<number>
  /** Closes the transport, where it is this provider's own. */
  readonly #close: () => void
  #nextId = 1
  #heard = false
  #starting = false

  /**
   * @param options - The address and how to call it; or a transport, which is used as it is, can stand behind several libraries at once, and is
   * left open by `destroy()`.
   * @param config - What ethers' own providers take.
   * @throws {KeyrailError} kind `invalidRequest` for a wrong option, naming it and the mend.
   */
  constructor(options: TransportOptions | Transport, config: KeyrailProviderConfig = {}) {
    checkNames('the second argument of KeyrailProvider', config, ['polling', 'pollingInterval', 'cacheTimeout'])
    const { transport, release } = resolveTransport(
      options,
      { safeWrites: safeWrites({ keccak256: hash }) },
      'KeyrailProvider',
    )
    // Joining and remembering are the transport's: ethers would hold calls back for 10 ms to join them.
    super(transport.redactedUrl, undefined, { cacheTimeout: -1, polling: true, ...config, batchMaxCount: 1 })
    const { request, redactedUrl } = transport
    const known = (transport as Partial<{ readonly chainId: () => Promise<number> }>).chainId
    this.#transport = transport
    this.#chainId = known ?? chainIdOf(request, redactedUrl, undefined)
    this.#close = release
  }

  /** Makes one call. */
  override send(method: string, params: unknown[] | Record<string, unknown>): Promise<unknown> {
    const payload: JsonRpcPayload = { jsonrpc: '2.0', id: this.#nextId++, method, params: params as unknown[] }
    this.#begin()
    return this.#heard ? this.#tell(payload) : this.#request(payload)
  }

  /**
   * Learns whether anybody listens to `debug`: to tell nobody costs as much as a call of a batch does. Logs are asked for by ranges, unless
   * `polling` is false.
   */
  override _getSubscriber(subscription: Subscription): Subscriber {
    this.#heard ||= subscription.type === 'debug'
    return subscription.type === 'event' && this._getOption('polling')
      ? followLogs(this, subscription.filter)
      : super._getSubscriber(subscription)
  }

  async #tell(payload: JsonRpcPayload): Promise<unknown> {
    void this.emit('debug', { action: 'sendRpcPayload', payload })
    try {
      const result = await this.#request(payload)
      void this.emit('debug', { action: 'receiveRpcResult', result: [{ id: payload.id, result }] })
      return result
    } catch (error) {
      void this.emit('debug', { action: 'receiveRpcError', error })
      throw error
    }
  }

  /** Makes calls whose errors are answers, as ethers wants them of a provider. */
  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    const answers: (JsonRpcResult | JsonRpcError)[] = await Promise.all(
      [payload].flat().map(async (one) => {
        const { id, method, params } = one
        try {
          return { id, result: await this.#transport.request({ method, params: params as unknown[] }) }
        } catch (error) {
          if (!isKeyrailError(error)) throw error
          return { id, error: error.rpcError ?? { code: -32_603, message: error.message } }
        }
      }),
    )
    // Ethers looks for `error` in each.
    return answers as JsonRpcResult[]
  }

  override async _detectNetwork(): Promise<Network> {
    try {
      return Network.from(await this.#chainId())
    } catch (error) {
      throw toEthersError(this, error, { jsonrpc: '2.0', id: 0, method: 'eth_chainId', params: [] })
    }
  }

  /** A lookup on this provider's own chain, of a name for example, is made here, with the same key. */
  override _getProvider(chainId: number): AbstractProvider {
    return this.ready && this._network.chainId === BigInt(chainId) ? this : super._getProvider(chainId)
  }

  /** Ends what is under way and stops polling. A transport that was given stays open. */
  override destroy(): void {
    super.destroy()
    this.#close()
  }

  async #request(payload: JsonRpcPayload): Promise<unknown> {
    const { method, params } = payload
    if (this.destroyed)
      throw makeError('provider destroyed; cancelled request', 'UNSUPPORTED_OPERATION', { operation: method })
    try {
      return await this.#transport.request({ method, params: params as unknown[] })
    } catch (error) {
      throw toEthersError(this, error, payload)
    }
  }

  /** Lets ethers know its network once the chain id is known. It would look for it in a loop, and print to the console, where that fails. */
  #begin(): void {
    if (this.ready || this.#starting) return
    this.#starting = true
    this.#chainId().then(
      () => this._start(),
      () => (this.#starting = false),
    )
  }
}
