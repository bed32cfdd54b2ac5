import { z } from 'zod'

/** Why the control API refuses. The list only grows. */
export const controlRefusalCodes = [
  'bad_json',
  'bad_media_type',
  'body_too_large',
  'invalid',
  'not_found',
  'method_not_allowed',
  'misdirected',
  'not_logged_in',
  'forbidden',
  'cross_site',
  'password_needed',
  'too_many_requests',
  'version_conflict',
  'name_taken',
  'too_many',
  'already_there',
  'revoked',
  'reveal_off',
  'unavailable',
  'internal',
] as const

/** What every refusal of the control API looks like. */
export interface ControlRefusalView {
  readonly error: {
    /** One of `controlRefusalCodes`, or one of accounts, such as `bad_credentials`. */
    readonly code: string
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
      code: z.string(),
      message: z.string(),
      fields: z.array(z.strictObject({ field: z.string(), mend: z.string() })).exactOptional(),
      retryAfterMs: z.number().exactOptional(),
      requestId: z.string(),
    }),
  })
  .meta({ id: 'Refusal' })
