import codesAndWordsGrid from '../codesAndWords.json' with { type: 'json' }
import failureCases from '../failures.json' with { type: 'json' }
import freshCases from '../fresh.json' with { type: 'json' }
import heldOutCases from '../heldOut.json' with { type: 'json' }
import rangeHintCases from '../rangeHints.json' with { type: 'json' }
import repeatableCases from '../repeatable.json' with { type: 'json' }
import retryAfterCases from '../retryAfter.json' with { type: 'json' }
import wordingCases from '../wordings.json' with { type: 'json' }
import type { Json } from './json.ts'

/** The implementations that run a case. */
export type Implementation = 'ts' | 'python'

/** A response of a server to one call, and its expected classification. */
export interface FailureCase {
  readonly name: string
  /** The origin of the wording: a provider, a proxy or a node; `any` and `broken` for cases of no particular one. */
  readonly provider: string
  /**
   * Rules are written for the first half and measured on the second. A provider is in one half only: in the second if the first byte of the
   * SHA-256 of its name is odd.
   */
  readonly half: 'first' | 'second'
  /** The source of the wording: a repository with the path, or a page. Every case of `wordings.json` has it. */
  readonly origin?: string
  readonly appliesTo: readonly Implementation[]
  /** The call, always with id 1. In a batch, the body either rejects the whole batch or is the response to this call. */
  readonly request: { readonly method: string; readonly batch?: boolean }
  readonly response: {
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
    /** For a write: whether the transaction may have arrived. If so, no kind that calls the failure final is allowed. */
    readonly mayHaveArrived?: boolean
    /** Absent if the server requested no delay. */
    readonly retryAfterMs?: number
    /** Checked where present. */
    readonly rpcError?: { readonly code: number; readonly message: string; readonly data?: Json }
    /** Texts that the error message must contain. */
    readonly messageHolds?: readonly string[]
    /** Texts that the error message must not contain. */
    readonly messageLacks?: readonly string[]
  }
  /** The reason for the expected classification. */
  readonly why: string
}

/** A request of a server to wait, and the delay in it. */
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
  /** In milliseconds; null if there is no delay. */
  readonly expect: number | null
  readonly why: string
}

/** Codes that no single word overrides. Each word, in each sentence, with each code and method, is of the kind that the code says. */
export interface CodesAndWords {
  /** The kind of each code. */
  readonly codes: { readonly [code: string]: string }
  readonly methods: readonly string[]
  /** `WORD` is replaced by the word. */
  readonly sentences: readonly string[]
  readonly words: readonly string[]
}

/** Whether a method may be sent a second time when it is not known whether the first request arrived. */
export interface RepeatableCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  readonly method: string
  readonly expect: boolean
}

/** An error of a provider for a range of logs, and the expected hint. */
export interface RangeHintCase {
  readonly name: string
  /** The origin of the wording, as in `FailureCase`. */
  readonly provider: string
  readonly appliesTo: readonly Implementation[]
  readonly response: {
    readonly status: number
    readonly error: { readonly code: number; readonly message: string; readonly data?: Json }
  }
  /** Empty if the error does not say which range would be accepted. */
  readonly expect: {
    /** No request may span more blocks than this. */
    readonly maxBlocks?: number
    /** The first and the last block of a range that is said to work. */
    readonly fromBlock?: number
    readonly toBlock?: number
    /** Whether there are too many addresses. */
    readonly tooManyAddresses?: boolean
  }
  readonly why: string
}

/** Codes that no single word overrides: `codesAndWords.json`. */
export const codesAndWords: CodesAndWords = codesAndWordsGrid

/** How failures are classified: `failures.json`. */
export const failures: readonly FailureCase[] = failureCases as readonly FailureCase[]

/**
 * Real wordings of clients and providers that the rules did not know, collected by someone who had not read the rules: `fresh.json`. Rules are written
 * for the first half only.
 */
export const fresh: readonly FailureCase[] = freshCases as readonly FailureCase[]

/** Real wordings that were collected after the rules were written, to measure them: `heldOut.json`. No rule is written for them. */
export const heldOut: readonly FailureCase[] = heldOutCases as readonly FailureCase[]

/** Real wordings of providers, nodes and proxies, in the form of `failures.json`: `wordings.json`. */
export const wordings: readonly FailureCase[] = wordingCases as readonly FailureCase[]

/** The range of logs that would be accepted, according to an error: `rangeHints.json`. */
export const rangeHints: readonly RangeHintCase[] = rangeHintCases as readonly RangeHintCase[]

/** The methods that are known reads: `repeatable.json`. */
export const repeatables: readonly RepeatableCase[] = repeatableCases as readonly RepeatableCase[]

/** How a requested delay is parsed: `retryAfter.json`. */
export const retryAfters: readonly RetryAfterCase[] = retryAfterCases as readonly RetryAfterCase[]
