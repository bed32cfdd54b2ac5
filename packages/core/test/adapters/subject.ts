/** The server of a case, and how to create the client. */
export interface Target {
  /** The origin of the server. The URL is `{origin}/v2/{key}`. */
  readonly origin: string
  readonly key: string
  /** Undefined if the user does not set it. */
  readonly chainId: number | undefined
  /** Whether calls of the same tick are batched. */
  readonly batch: boolean
  /** The timeout of a call, in milliseconds. @default the library's own */
  readonly timeoutMs: number | undefined
  /** Set in the cases that abort calls. */
  readonly signal: AbortSignal | undefined
}

/** A revert as the library reports it. Without a name and data, the library could not decode it. */
export interface ShownRevert {
  readonly name?: string | undefined
  readonly args?: readonly unknown[] | undefined
  readonly data?: string | undefined
}

/** A client of any library, with the same functions for all. Quantities can be bigints or hex strings. */
export interface TestClient {
  readonly blockNumber: () => Promise<unknown>
  readonly balance: (address: string) => Promise<unknown>
  /** Returns the owner, or the bytes of the result. */
  readonly contractRead: () => Promise<unknown>
  /** Sends a signed transaction and returns its hash. */
  readonly send: (raw: string) => Promise<unknown>
  readonly request: (method: string, params: readonly unknown[]) => Promise<unknown>
  /** Sends several calls in the library's way to batch. @default one `balance` each, in the same tick */
  readonly balances?: (addresses: readonly string[]) => readonly Promise<unknown>[]
  /** Requests a block number until `target.signal` aborts it. Undefined if the library cannot abort calls. */
  readonly abortable?: (() => Promise<unknown>) | undefined
  /** Returns the revert that an error reports, or undefined if it reports none. */
  readonly decodeRevert: (error: unknown) => ShownRevert | undefined
  /** The objects that user code gets, which must not contain the key. */
  readonly exposed: unknown
  readonly close: () => void
}

/** A library with a provider, to test. */
export interface Subject {
  readonly name: string
  /** Creates a client that uses the library's own functions, or its function for any call. */
  readonly open: Readonly<Record<'library' | 'raw', (target: Target) => TestClient | Promise<TestClient>>>
}
