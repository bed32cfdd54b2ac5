import type { AccountErrorCode } from './account/accountError.ts'
import type { ApiErrorCode } from './contract/apiError.ts'

/** What is wrong with a field, and how to fix it. */
export interface FieldProblem {
  /** As in `name`, `limits.perDay`, `services[0]`. */
  readonly field: string
  /** Reads on from the field's name, and repeats no value. */
  readonly fix: string
}

/** Why a request is rejected. */
export interface ApiError {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 422 | 429 | 500 | 503
  readonly code: ApiErrorCode | AccountErrorCode
  readonly message: string
  readonly fields?: readonly FieldProblem[]
  readonly retryAfterMs?: number
  /** The methods that there are, of those with 405. */
  readonly allow?: string
}

/** What a handler gives: an answer, or a rejection. */
export type Reply<Answer> =
  | {
      readonly answer: Answer
      /** A `Set-Cookie` header. */
      readonly cookie?: string
      /** The answer as JSON, where it is kept so. */
      readonly text?: string
      /** Of an answer that is kept as a file: what it is called. Of a to z, digits, hyphens and dots. */
      readonly fileName?: string
    }
  | { readonly rejection: ApiError; readonly cookie?: string }
