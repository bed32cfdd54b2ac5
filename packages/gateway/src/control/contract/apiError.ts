import { z } from 'zod'
import type { AccountErrorCode } from '../account/accountError.ts'

/** Why the control API rejects, beside what accounts reject (`AccountErrorCode`). The list only grows. */
export type ApiErrorCode =
  | 'bad_json'
  | 'bad_media_type'
  | 'body_too_large'
  | 'invalid'
  | 'not_found'
  | 'method_not_allowed'
  | 'misdirected'
  | 'not_logged_in'
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

/** What every rejection of the control API looks like. */
export interface ApiErrorView {
  readonly error: {
    /** A `ApiErrorCode`, or one of the accounts', such as `wrong_credentials`. */
    readonly code: ApiErrorCode | AccountErrorCode
    /** For a person. */
    readonly message: string
    /** All that is wrong with what was sent; `fix` reads on from the field's name. */
    readonly fields?: readonly { readonly field: string; readonly fix: string }[]
    /** When it is worth another try, in milliseconds. */
    readonly retryAfterMs?: number
    readonly requestId: string
  }
}

/** @see ApiErrorView */
export const apiErrorView: z.ZodType<ApiErrorView> = z
  .strictObject({
    error: z.strictObject({
      // Programs should take a code that they do not know for what its status says.
      code: z.string() as unknown as z.ZodType<ApiErrorCode | AccountErrorCode>,
      message: z.string(),
      fields: z.array(z.strictObject({ field: z.string(), fix: z.string() })).exactOptional(),
      retryAfterMs: z.number().exactOptional(),
      requestId: z.string(),
    }),
  })
  .meta({ id: 'Rejection' })
