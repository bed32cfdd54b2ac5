import { z } from 'zod'
import type { AccountErrorCode } from '../account/accountError.ts'

/** The error codes of the control API, in addition to `AccountErrorCode`. Codes may be added but are never removed. */
export type ApiErrorCode =
  | 'bad_json'
  | 'bad_media_type'
  | 'body_too_large'
  | 'invalid'
  | 'not_found'
  | 'method_not_allowed'
  | 'misdirected'
  | 'not_logged_in'
  | 'unknown_account'
  | 'forbidden'
  | 'too_many_requests'
  | 'version_conflict'
  | 'name_taken'
  | 'too_many'
  | 'already_exists'
  | 'in_use'
  | 'revoked'
  | 'not_revealable'
  | 'unavailable'
  | 'internal'

/** The body of every error response of the control API. */
export interface ApiErrorView {
  readonly error: {
    /** An `ApiErrorCode`, or an `AccountErrorCode` such as `wrong_credentials`. */
    readonly code: ApiErrorCode | AccountErrorCode
    /** Human-readable: what happened, then how to fix it. */
    readonly message: string
    /** Every field with a problem. `fix` continues a sentence that starts with the field's name. */
    readonly fields?: readonly { readonly field: string; readonly fix: string }[]
    /** How long to wait before a retry, in milliseconds. */
    readonly retryAfterMs?: number
    readonly requestId: string
  }
}

/** The schema of `ApiErrorView`. */
export const apiErrorView: z.ZodType<ApiErrorView> = z
  .strictObject({
    error: z.strictObject({
      // Clients should treat an unknown code by its HTTP status.
      code: z.string() as unknown as z.ZodType<ApiErrorCode | AccountErrorCode>,
      message: z.string(),
      fields: z.array(z.strictObject({ field: z.string(), fix: z.string() })).exactOptional(),
      retryAfterMs: z.number().exactOptional(),
      requestId: z.string(),
    }),
  })
  .meta({ id: 'ApiError' })
