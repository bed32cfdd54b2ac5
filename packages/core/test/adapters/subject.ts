/** Where a case is run, and how the client is to be made. */
export interface Target {
  /** Origin of the server. The address is this, `/v2/` and the key. */
  readonly origin: string
  readonly key: string
  /** Undefined where the user does not say. */
  readonly chainId: number | undefined
  /** Calls of the same tick are to be joined. */
  readonly batch: boolean
  /** The time that a call may take, in milliseconds. @default the library's own */
  readonly timeoutMs: number | undefined
  /** Given in the cases of abort only: it fires. */
  readonly signal: AbortSignal | undefined
}

/** A revert as the library shows it; without a name and bytes where it could not decode it. */
export interface ShownRevert {
  readonly name?: string | undefined
  readonly args?: readonly unknown[] | undefined
  readonly data?: string | undefined
}

/** A client of a library, in no library's words. Quantities may be bigints or hex texts. */
export interface Face {
  readonly blockNumber: () => Promise<unknown>
  readonly balance: (address: string) => Promise<unknown>
  /** The owner, or the bytes of the result. */
  readonly contractRead: () => Promise<unknown>
  /** Sends a signed transaction and gives its hash. */
  readonly send: (raw: string) => Promise<unknown>
  readonly request: (method: string, params: readonly unknown[]) => Promise<unknown>
  /** Calls that go together, in the way that the library has for it. @default one `balance` each, in the same tick */
  readonly balances?: (addresses: readonly string[]) => readonly Promise<unknown>[]
  /** A block number that ends by `target.signal`; undefined where the library has no way to it. */
  readonly abortable?: (() => Promise<unknown>) | undefined
  /** What an error shows of a revert; undefined where it shows none. */
  readonly revertOf: (error: unknown) => ShownRevert | undefined
  /** What the user holds. */
  readonly held: unknown
  readonly close: () => void
}

/** One way to reach a node: a library with a provider. */
export interface Subject {
  readonly name: string
  /** The library's own functions, and its way to make any call. */
  readonly open: Readonly<Record<'library' | 'raw', (target: Target) => Face | Promise<Face>>>
}
