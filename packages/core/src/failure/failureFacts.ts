import type { FailureKind } from './failureKind.ts'
import type { RpcErrorObject } from './keyrailError.ts'

/** The facts about a failure, from which `createFailure` makes an error. Secrets are not masked yet. */
export interface FailureFacts {
  /** The server's message, on one line and without tags; or our own description, if `kind` is set. */
  readonly text: string
  /** Our own description of a response without a message. It is shown if `text` is empty, and never classified. */
  readonly problem?: string | undefined
  /** Set if the kind is known without classification: a broken connection, a timeout, a response that cannot be read. */
  readonly kind?: FailureKind | undefined
  /** The HTTP status, if there was a response. */
  readonly status?: number | undefined
  /** The JSON-RPC error object, if the response had one. */
  readonly rpcError?: RpcErrorObject | undefined
  /** The `retry-after` header. */
  readonly retryAfter?: string | null | undefined
  /** The `date` header. An HTTP-date in `retry-after` is relative to it, because clocks differ. */
  readonly date?: string | null | undefined
  /** True if no byte of the request can have reached the server. */
  readonly unsent?: boolean | undefined
  /** True if the call was sent in a batch. */
  readonly batch?: boolean | undefined
  /** True if the same call would fail the same way, such as a redirect or a response that is too large. Overrules the kind. */
  readonly final?: boolean | undefined
}
