import type { TransportStats } from '../observe/stats.ts'
import type { BatchFn } from '../schema/batch.ts'
import type { BatchFeature } from './batch.ts'
import type { CallOptions, RequestArguments } from './call/call.ts'
import type { EndpointState } from './route/routeOptions.ts'
import type { StatsFeature } from '../observe/statsFeature.ts'

/** Sends JSON-RPC calls. One instance can serve several libraries at once. */
export interface Transport {
  /** The URL without its key. Safe to print. */
  readonly redactedUrl: string
  /**
   * Makes one call.
   * @param args - `{ method, params }` as in EIP-1193.
   * @param options - Signal, deadline and retries of this call.
   * @returns The `result` of the response, unchanged.
   * @throws {KeyrailError} with the kind of failure; the signal's own reason if the caller aborted.
   */
  readonly request: (args: RequestArguments, options?: CallOptions) => Promise<unknown>
  /** Ends the calls in flight (kind `aborted`), closes connections and rejects new calls. */
  readonly close: () => void
  /** The same, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The result of `createTransport`, without the methods that features add. `B` is its `batch` option. */
export interface KeyrailTransport<B = undefined> extends Transport {
  /**
   * Creates a transport whose calls all go to the same endpoint as long as it works, so that they see one state of the chain. It makes no
   * difference with a single endpoint. Closing the group ends its calls and leaves this transport open.
   * @example
   * const group = createTransport({ url: 'http://127.0.0.1:8545' }).group()
   * await group.request({ method: 'eth_blockNumber' })
   * await group.request({ method: 'eth_getLogs', params: [{ fromBlock: 'latest' }] })
   */
  readonly group: () => Transport & FeatureMethods<B, undefined>
  /**
   * Returns the chain id: the configured `chainId`, or the node's, which is requested once.
   * @throws {KeyrailError} as `request`. The next call then queries the node again.
   */
  readonly chainId: () => Promise<number>
}

/** The method that `batch: batch()` adds to a transport. */
export interface BatchMethods<Rpc> {
  /**
   * Sends several calls in one request and reports how each ended, in the order of the calls. Each has its own deadline, retries and failure,
   * and the promise never rejects because of a call. Writes among them are sent on their own.
   * @param calls - `{ method, params }` each.
   * @param options - Signal, deadline and retries of each call.
   * @throws {KeyrailError} kind `invalidRequest` if `calls` is not an array.
   * @example
   * const transport = createTransport({ url: 'http://127.0.0.1:8545', batch: batch() })
   * const [block, gas] = await transport.batch([{ method: 'eth_blockNumber' }, { method: 'eth_gasPrice' }])
   * if (block.status === 'fulfilled') console.log(BigInt(block.value))
   */
  readonly batch: BatchFn<Rpc>
}

/** The method that `stats: stats()` adds to a transport. */
export interface StatsMethods {
  /** Returns what the transport has done so far, and the state of its endpoints. Safe to print: no keys, params or results. */
  readonly stats: () => FullStats
}

/** The result of `transport.stats()`. Plain data. */
export interface FullStats extends TransportStats {
  /** The head, circuit breaker and budget of each endpoint. */
  readonly endpointStates: readonly EndpointState[]
}

/** The methods that the `batch` and `stats` options add. */
export type FeatureMethods<B, S> = (B extends BatchFeature<infer Rpc> ? BatchMethods<Rpc> : unknown) &
  (S extends StatsFeature ? StatsMethods : unknown)
