import { isKeyrailError, safeWrites } from '@keyrail/core'
import { createChainIdReader, checkNames, getNodeSubscriptions, resolveTransport } from '@keyrail/core/internal'
import type { TransportOptions, Transport } from '@keyrail/core'
import { JsonRpcProvider, keccak256, makeError, Network } from 'ethers'
import type {
  AbstractProvider,
  JsonRpcApiProviderOptions,
  JsonRpcError,
  JsonRpcPayload,
  JsonRpcResult,
  LogParams,
  Subscriber,
  Subscription,
} from 'ethers'
import { followBlocks } from './followBlocks.ts'
import { followLogs } from './followLogs.ts'
import { followPending } from './followPending.ts'
import { toEthersError } from './toEthersError.ts'

/** Options of ethers' own providers. */
export type KeyrailProviderConfig = Pick<JsonRpcApiProviderOptions, 'pollingInterval' | 'cacheTimeout'>

/** Returns the params of `eth_subscribe`. Undefined for events that ethers creates in another way. */
const toSubscribeParams = (subscription: Subscription): unknown[] | undefined =>
  subscription.type === 'block'
    ? ['newHeads']
    : subscription.type === 'pending'
      ? ['newPendingTransactions']
      : subscription.type === 'event'
        ? ['logs', subscription.filter]
        : undefined

const hash = (hex: `0x${string}`): `0x${string}` => keccak256(hex) as `0x${string}`

/**
 * An ethers 6 provider that sends its requests through Keyrail. Contracts, signers, events and errors work as with ethers' own providers.
 *
 * The chain id is the `chainId` option, or is requested once. A wrong key fails the first call: there is no loop that retries network
 * detection.
 *
 * @example
 * const { KEYRAIL_API_KEY: apiKey = '' } = process.env
 * const provider = new KeyrailProvider({ baseUrl: 'https://node.example/testnet', apiKey, chainId: 11155111 })
 * console.log(await provider.getBlockNumber())
 * provider.destroy()
 */
export class KeyrailProvider extends JsonRpcProvider {
  readonly #transport: Transport
  readonly #chainId: () => Promise<number>
  /** Closes the transport if this provider created it. */
  readonly #close: () => void
  #nextId = 1
  #hasDebugListener = false
  #starting = false

  /**
   * @param options - The options of `createTransport`, or a transport that you created. It can serve several libraries at once, and
   * `destroy()` leaves it open. A `network` that is not in the record of URLs is rejected at run time only: unlike `createTransport`, a
   * class cannot infer the names.
   * @param config - Options of ethers' own providers.
   * @throws {KeyrailError} kind `invalidRequest` for a wrong option. The message names the option and how to fix it.
   */
  constructor(options: TransportOptions | Transport, config: KeyrailProviderConfig = {}) {
    checkNames('the second argument of KeyrailProvider', config, ['pollingInterval', 'cacheTimeout'])
    const { transport, release } = resolveTransport(
      options,
      { safeWrites: safeWrites({ keccak256: hash }) },
      'KeyrailProvider',
    )
    // The transport batches and caches. Ethers would delay each call by 10 ms to batch it.
    super(transport.redactedUrl, undefined, { cacheTimeout: -1, ...config, batchMaxCount: 1 })
    const { request, redactedUrl } = transport
    const getChainId = (transport as Partial<{ readonly chainId: () => Promise<number> }>).chainId
    this.#transport = transport
    this.#chainId = getChainId ?? createChainIdReader(request, redactedUrl, undefined)
    this.#close = release
  }

  /** Sends one call. */
  override send(method: string, params: unknown[] | Record<string, unknown>): Promise<unknown> {
    const payload: JsonRpcPayload = { jsonrpc: '2.0', id: this.#nextId++, method, params: params as unknown[] }
    this.#startNetwork()
    return this.#hasDebugListener ? this.#requestWithEvents(payload) : this.#request(payload)
  }

  /**
   * Notices listeners of `debug`: without one, events are not emitted, because emitting one costs as much as a call of a batch. If the transport
   * has `webSocket`, blocks, logs and pending transactions are subscribed to. Otherwise blocks and pending transactions are polled, and logs are queried by block range:
   * filters of logs exist on a single node, which may lose them.
   */
  override _getSubscriber(subscription: Subscription): Subscriber {
    this.#hasDebugListener ||= subscription.type === 'debug'
    const subscriptions = getNodeSubscriptions(this.#transport)
    const params = toSubscribeParams(subscription)
    if (subscriptions && params)
      return subscriptions.createSubscriber(params, {
        onResult: (result) => this.#emitResult(subscription, result),
        onError: (error) =>
          void this.emit(
            'error',
            toEthersError(this, error, { jsonrpc: '2.0', id: 0, method: 'eth_subscribe', params }),
          ),
      })
    if (subscription.type === 'block') return followBlocks(this)
    if (subscription.type === 'pending') return followPending(this)
    if (subscription.type === 'event') return followLogs(this, subscription.filter)
    return super._getSubscriber(subscription)
  }

  /** Emits what a subscription has reported: the number of a block, a log, or the hash of a transaction. */
  async #emitResult(subscription: Subscription, result: unknown): Promise<void> {
    if (subscription.type === 'event') {
      // Ethers itself does not use the network.
      const log = this._wrapLog(result as LogParams, await this.getNetwork().catch(() => Network.from(0)))
      await this.emit(log.removed ? log.removedEvent() : subscription.filter, log)
    } else await this.emit(subscription.type, subscription.type === 'block' ? Number(Object(result).number) : result)
  }

  async #requestWithEvents(payload: JsonRpcPayload): Promise<unknown> {
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

  /** Sends calls and returns their errors as error responses, as ethers expects from a provider. */
  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    const responses: (JsonRpcResult | JsonRpcError)[] = await Promise.all(
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
    // The declared type has no errors, but ethers checks each response for `error`.
    return responses as JsonRpcResult[]
  }

  override async _detectNetwork(): Promise<Network> {
    try {
      return Network.from(await this.#chainId())
    } catch (error) {
      throw toEthersError(this, error, { jsonrpc: '2.0', id: 0, method: 'eth_chainId', params: [] })
    }
  }

  /** Uses this provider, and so its key, for look-ups on its own chain, such as those of ENS names. */
  override _getProvider(chainId: number): AbstractProvider {
    return this.ready && this._network.chainId === BigInt(chainId) ? this : super._getProvider(chainId)
  }

  /** Cancels the calls in flight and stops polling. Closes the transport if this provider created it. */
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

  /** Starts ethers once the chain id is known. Otherwise ethers retries a failed detection in a loop and prints to the console. */
  #startNetwork(): void {
    if (this.ready || this.#starting) return
    this.#starting = true
    this.#chainId().then(
      () => this._start(),
      () => (this.#starting = false),
    )
  }
}
