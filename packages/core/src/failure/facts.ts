import type { FailureKind } from './failureKind.ts'
import type { RpcErrorObject } from './keyrailError.ts'

/** What is known of a failure before it has a name: gathered by whoever saw it, judged by `createFailure`. Nothing in it is masked yet. */
export interface Facts {
  /** What the server said, on one line and without tags, or what happened in our own words. */
  readonly text: string
  /** Set where the kind is known already and nothing is left to judge: a broken connection, a passed deadline, an answer that is none. */
  readonly kind?: FailureKind | undefined
  /** The HTTP status, where an answer came. */
  readonly status?: number | undefined
  /** The JSON-RPC error object, where the answer had one. */
  readonly rpcError?: RpcErrorObject | undefined
  /** The `retry-after` header. */
  readonly retryAfter?: string | null | undefined
  /** The `date` header: an HTTP-date in `retry-after` is counted from it, because clocks differ. */
  readonly date?: string | null | undefined
  /** True where not a byte of the request can have reached the server. */
  readonly unsent?: boolean | undefined
  /** True where the call was sent as part of a batch. */
  readonly batch?: boolean | undefined
  /** True where the same call would end the same way, whatever its kind says: a redirect, a body over the limit. */
  readonly final?: boolean | undefined
}
