import type { TransportStats } from '../observe/stats.ts'
import type { BatchFn } from '../schema/batch.ts'
import type { EthereumRpc } from '../schema/ethereumRpc.ts'
import type { RouteStats } from './route.ts'
import type { Transport } from './transport.ts'

/** Calls that belong together: as long as it works, one endpoint answers all of them, so that they see one state of the chain. */
export interface TransportGroup<Rpc = EthereumRpc> extends Transport {
  /** As {@link FullTransport.batch}, within the group. */
  readonly batch: BatchFn<Rpc>
}

/** What {@link FullTransport.stats} gives. Plain data. */
export interface FullTransportStats extends TransportStats {
  /** Each endpoint: its head, health and budget. */
  readonly route: readonly RouteStats[]
}

/** A transport with every layer, as `createTransport` makes it. Its batches know the methods of `Rpc`. */
export interface FullTransport<Rpc = EthereumRpc> extends Transport {
  /**
   * Makes several calls in one request, whether `batch` is on or not, and tells of each how it ended, in the order of the calls. Each has its own
   * deadline, retries and failure: one that fails costs the others nothing, and the promise does not reject for a call. Writes among them go
   * each by itself.
   * @param calls - `{ method, params }` each.
   * @param options - Signal and deadline of each of the calls.
   * @throws {KeyrailError} kind `invalidRequest` where it is no array.
   * @example
   * const transport = createTransport({ url: 'http://127.0.0.1:8545' })
   * const [block, gas] = await transport.batch([{ method: 'eth_blockNumber' }, { method: 'eth_gasPrice' }])
   * if (block.status === 'fulfilled') console.log(BigInt(block.value))
   */
  readonly batch: BatchFn<Rpc>
  /**
   * Ties calls together: they are asked of the same endpoint as long as it works. With one endpoint it changes nothing.
   * Closing the group ends its calls and leaves the transport open.
   * @example
   * const group = createTransport({ url: 'http://127.0.0.1:8545' }).group()
   * await group.request({ method: 'eth_blockNumber' })
   * await group.request({ method: 'eth_getLogs', params: [{ fromBlock: 'latest' }] })
   */
  readonly group: () => TransportGroup<Rpc>
  /** What the transport has done since it was made, and how its endpoints are. Safe to print: no key, params or results. */
  readonly stats: () => FullTransportStats
  /**
   * The chain id: the one given as `chainId`, and else asked once, when it is first wanted.
   * @throws {KeyrailError} as `request`; it is then asked anew the next time.
   */
  readonly chainId: () => Promise<number>
}
