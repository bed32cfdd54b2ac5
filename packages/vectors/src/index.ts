import failureCases from '../failures.json' with { type: 'json' }
import retryAfterCases from '../retryAfter.json' with { type: 'json' }

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** The implementations that run a case. */
export type Implementation = 'ts' | 'python'

/** One answer of a server to one call, and what must be decided of it. */
export interface FailureCase {
  readonly name: string
  /** Whose dialect it is: a provider, a proxy, a node, or `any` and `broken` for what is nobody's. */
  readonly provider: string
  readonly appliesTo: readonly Implementation[]
  /** The call, always with id 1. In a batch the body is either the refusal of the whole, or the answer to this one item. */
  readonly request: { readonly method: string; readonly batch?: boolean }
  readonly answer: {
    readonly status: number
    /** By lower-case name. */
    readonly headers?: { readonly [name: string]: string }
    /** A string is the body's text; anything else is sent as JSON. */
    readonly body: Json
  }
  readonly expect: {
    readonly kind: string
    readonly source: string
    readonly retryable: boolean
    /** Absent where no wait was asked for. */
    readonly retryAfterMs?: number
    /** Checked where present. */
    readonly rpcError?: { readonly code: number; readonly message: string; readonly data?: Json }
    /** Parts that the error's message has. */
    readonly messageHolds?: readonly string[]
    /** Parts that the error's message must not have. */
    readonly messageLacks?: readonly string[]
  }
  /** Why it has to be decided so. */
  readonly why: string
}

/** One way of asking to wait, and how long that is. */
export interface RetryAfterCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  readonly given: {
    readonly text: string
    /** The `retry-after` header. */
    readonly retryAfter?: string
    /** The `date` header. */
    readonly date?: string
    /** The `data` of the JSON-RPC error. */
    readonly data?: Json
  }
  /** The clock, in milliseconds since 1970. */
  readonly now?: number
  /** In milliseconds; null where nothing was asked. */
  readonly expect: number | null
  readonly why: string
}

/** How failures are classified: `failures.json`. */
export const failures: readonly FailureCase[] = failureCases as readonly FailureCase[]

/** How a wait is read: `retryAfter.json`. */
export const retryAfters: readonly RetryAfterCase[] = retryAfterCases as readonly RetryAfterCase[]
