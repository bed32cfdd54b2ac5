import type { CallOptions, EthereumRpc, RequestFn } from '@keyrail/core'

/** What every client has beside the methods of its schema. */
export interface ClientParts<Rpc> {
  /** What may be printed of the address: never holds the key. */
  readonly redactedUrl: string
  /**
   * Makes one call by name, with its own signal and deadline. Exact for every method of the schema.
   * @param args - `{ method, params }`.
   * @param options - Signal and deadline of this call. They win over the bound ones.
   * @returns The result as the node sent it.
   * @throws {KeyrailError} with the kind of failure; the signal's own reason where the caller aborted.
   * @example
   * const block = await client.request({ method: 'eth_blockNumber' }, { timeoutMs: 2_000 })
   * @see EIP-1193
   */
  readonly request: RequestFn<Rpc>
  /**
   * The same client with call options bound, for its methods and its `request`.
   * Bindings add up: a later one wins, and one given as `undefined` is unbound.
   * @example
   * const hurried = client.with({ timeoutMs: 2_000 })
   * await hurried.eth_chainId()
   */
  readonly with: (options: CallOptions) => Client<Rpc>
  /**
   * Closes the transport: ends the calls under way (kind `aborted`) and refuses new ones.
   * That holds for everything else on the same transport too. Closing twice does no harm.
   */
  readonly close: () => void
  /** The same, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * A typed client: the methods of its schema, and a few things of its own.
 * Methods take and give what goes over the wire (hex strings); the functions beside it, such as `getBlock(client)`, decode.
 */
export type Client<Rpc = EthereumRpc> = Rpc & ClientParts<Rpc>
