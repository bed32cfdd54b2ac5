import type { FailureKind } from './failureKind.ts'

/** One rule of the classification: a failure is of its kind if all conditions are true. A list is true if it contains the value. */
export interface Rule {
  readonly kind: FailureKind
  readonly when: {
    /** `error.data.reason`, with which the Keyrail service names a rejection. */
    readonly reason?: readonly string[]
    /** The HTTP status. */
    readonly status?: readonly number[]
    /** The code of the JSON-RPC error. */
    readonly code?: readonly number[]
    /** The message or the error's data contains one of these phrases. `phrase.ts` describes how a phrase is written. */
    readonly phrases?: readonly string[]
    /** The method sends a transaction, runs a call of the caller, or searches logs or traces. `read` is every method that sends no transaction. */
    readonly method?: 'write' | 'call' | 'logs' | 'read'
    /** Whether the call was sent in a batch. */
    readonly batch?: boolean
    /** `rpc` if the response has a JSON-RPC error, `http` if not. */
    readonly source?: 'rpc' | 'http'
    /** The error's data is what a contract reverted with: at least four bytes as hex. */
    readonly revertData?: boolean
  }
}

/** A part of `classification.json`. The first rule that is true decides, so an earlier section overrules the later ones. */
export interface Section {
  /** The kind of fact that its rules test. */
  readonly section: string
  readonly rules: readonly Rule[]
}

/** The contents of `classification.json`. */
export interface Classification {
  readonly sections: readonly Section[]
}
