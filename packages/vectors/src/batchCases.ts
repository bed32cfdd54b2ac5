import batchCases from '../batches.json' with { type: 'json' }
import type { Json } from './json.ts'
import type { Implementation } from './failureCases.ts'

/** The expected outcome of one call of a batch. */
export interface BatchCaseCall {
  /** The result. */
  readonly result?: Json
  /** The failure kind. */
  readonly kind?: string
  readonly source?: string
  readonly retryable?: boolean
  /** The call does not complete with this response: the client sends it again. */
  readonly resent?: boolean
}

/** A response of a server to a batch, and the expected outcome of each call. */
export interface BatchCase {
  readonly name: string
  readonly appliesTo: readonly Implementation[]
  /** The calls, with ids 1, 2, 3 and so on. */
  readonly methods: readonly string[]
  readonly response: {
    readonly status: number
    /** By lower-case name. */
    readonly headers?: { readonly [name: string]: string }
    /** A string is the body's text; anything else is sent as JSON. */
    readonly body: Json
  }
  readonly expect: {
    /** In the order of `methods`. */
    readonly calls: readonly BatchCaseCall[]
    /** The maximum batch size for the calls that are sent again; absent if there are none. */
    readonly limit?: number
  }
  readonly why: string
}

/** How responses to a batch are matched to its calls: `batches.json`. */
export const batches: readonly BatchCase[] = batchCases as readonly BatchCase[]
