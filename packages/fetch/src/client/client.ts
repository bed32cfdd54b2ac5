import type { CallOptions, EthereumRpc, RequestFn } from '@keyrail/core'

/** The members that every client has besides the methods of its schema. */
export interface ClientParts<Rpc> {
  /** The endpoint's URL without its key: safe to log. */
  readonly redactedUrl: string
  /**
   * Makes one call by method name, with its own call options. Exactly typed for every method of the schema.
   * @param args - `{ method, params }`.
   * @param options - Options of this call. They override the ones bound with `with()`.
   * @returns The result as the node sent it.
   * @throws {KeyrailError} with the kind of failure; the signal's own reason if the caller aborted.
   * @example
   * const block = await client.request({ method: 'eth_blockNumber' }, { timeoutMs: 2_000 })
   * @see EIP-1193
   */
  readonly request: RequestFn<Rpc>
  /**
   * Returns the same client with call options bound to its methods and its `request`.
   * Repeated bindings are merged: a later one wins, and `undefined` removes an option.
   * @param options - The call options to bind.
   * @example
   * const quickClient = client.with({ timeoutMs: 2_000 })
   * await quickClient.eth_chainId()
   */
  readonly with: (options: CallOptions) => Client<Rpc>
  /**
   * Closes the transport that `createClient` created from its options: in-flight calls fail with kind `aborted`, and so do later calls.
   * Clients from `with()` share that transport. A transport that was passed to `createClient` stays open. Closing twice is harmless.
   */
  readonly close: () => void
  /** Same as `close()`, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * A typed client: the methods of its schema, plus {@link ClientParts}.
 * Methods take and return the values of the wire (hex strings). The separate read functions, such as `getBlock(client)`, decode them.
 */
export type Client<Rpc = EthereumRpc> = Rpc & ClientParts<Rpc>
