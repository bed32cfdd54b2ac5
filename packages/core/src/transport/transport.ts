import type { CallOptions, RequestArguments } from './call.ts'

/**
 * Carries one JSON-RPC call to its answer. One instance can stand behind several libraries at once.
 */
export interface Transport {
  /** What may be printed of the address: never holds the key. */
  readonly redactedUrl: string
  /**
   * Makes one call.
   * @param args - `{ method, params }` as in EIP-1193.
   * @param options - Signal and deadline of this call.
   * @returns The `result` of the answer, as it was sent.
   * @throws {KeyrailError} with the kind of failure; the signal's own reason where the caller aborted.
   */
  readonly request: (args: RequestArguments, options?: CallOptions) => Promise<unknown>
  /** Ends the calls under way (kind `aborted`), closes connections and refuses new calls. */
  readonly close: () => void
  /** The same, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
