import batchCases from '../batches.json' with { type: 'json' }
import failureCases from '../failures.json' with { type: 'json' }
import rangeHintCases from '../rangeHints.json' with { type: 'json' }
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

/** How one call of a batch must end. */
export interface BatchCaseCall {
  /** What it is answered. */
  readonly result?: Json
  /** How it fails. */
  readonly kind?: string
  readonly source?: string
  readonly retryable?: boolean
  /** It is not settled by this answer: it is sent again. */
  readonly again?: boolean
}

/** One answer of a server to a batch, and what must become of each call. */
export interface BatchCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  /** The calls, with ids 1, 2, 3 and so on. */
  readonly methods: readonly string[]
  readonly answer: {
    readonly status: number
    /** By lower-case name. */
    readonly headers?: { readonly [name: string]: string }
    /** A string is the body's text; anything else is sent as JSON. */
    readonly body: Json
  }
  readonly expect: {
    /** In the order of `methods`. */
    readonly calls: readonly BatchCaseCall[]
    /** How many of the calls that are sent again go together at most; absent where none is. */
    readonly limit?: number
  }
  readonly why: string
}

/** How one provider refuses a range of logs, and what must be read out of it. */
export interface RangeHintCase {
  readonly name: string
  /** Whose dialect it is, as in `FailureCase`. */
  readonly provider: string
  readonly appliesTo: readonly Implementation[]
  readonly answer: {
    readonly status: number
    readonly error: { readonly code: number; readonly message: string; readonly data?: Json }
  }
  /** Empty where it says nothing about the range that would be taken. */
  readonly expect: {
    /** No request may span more blocks than this. */
    readonly maxBlocks?: number
    /** The first and the last block of a range that is said to work. */
    readonly fromBlock?: number
    readonly toBlock?: number
    /** It is the addresses that are too many. */
    readonly tooManyAddresses?: boolean
  }
  readonly why: string
}

/** How the answers to a batch are paired with its calls: `batches.json`. */
export const batches: readonly BatchCase[] = batchCases as readonly BatchCase[]

/** How failures are classified: `failures.json`. */
export const failures: readonly FailureCase[] = failureCases as readonly FailureCase[]

/** What a refusal of a range of logs says about the range that would be taken: `rangeHints.json`. */
export const rangeHints: readonly RangeHintCase[] = rangeHintCases as readonly RangeHintCase[]

/** How a wait is read: `retryAfter.json`. */
export const retryAfters: readonly RetryAfterCase[] = retryAfterCases as readonly RetryAfterCase[]
