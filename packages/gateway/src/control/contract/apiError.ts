import { z } from 'zod'
import type { AccountRefusalCode } from '../account/accountError.ts'

/** Why the control API refuses, beside what accounts refuse (`AccountRefusalCode`). The list only grows. */
export type ControlRefusalCode =
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
  | 'already_there'
  | 'in_use'
  | 'revoked'
  | 'not_revealable'
  | 'unavailable'
  | 'internal'

/** What every refusal of the control API looks like. */
export interface ControlRefusalView {
  readonly error: {
    /** A `ControlRefusalCode`, or one of the accounts', such as `wrong_credentials`. */
    readonly code: ControlRefusalCode | AccountRefusalCode
    /** For a person. */
    readonly message: string
    /** All that is wrong with what was sent; `mend` reads on from the field's name. */
    readonly fields?: readonly { readonly field: string; readonly mend: string }[]
    /** When it is worth another try, in milliseconds. */
    readonly retryAfterMs?: number
    readonly requestId: string
  }
}

/** @see ControlRefusalView */
export const controlRefusalView: z.ZodType<ControlRefusalView> = z
  .strictObject({
    error: z.strictObject({
      // Programs should take a code that they do not know for what its status says.
      code: z.string() as unknown as z.ZodType<ControlRefusalCode | AccountRefusalCode>,
      message: z.string(),
      fields: z.array(z.strictObject({ field: z.string(), mend: z.string() })).exactOptional(),
      retryAfterMs: z.number().exactOptional(),
      requestId: z.string(),
    }),
  })
  .meta({ id: 'Refusal' })
