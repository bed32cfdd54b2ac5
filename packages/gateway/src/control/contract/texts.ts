import { z } from 'zod'

// Half a surrogate pair is no character, and no database keeps a zero.
const hasControl = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text)
const hasControlBesideLines = (text: string): boolean => /\p{Cs}|[^\P{Cc}\n\r\t]/u.test(text)
const lengthOf = (text: string): number => [...text].length

/** Of a text that is shown on one line: trimmed, counted by code points, without control characters, otherwise as it was typed. */
const line = (least: number, most: number): z.ZodType<string, string> =>
  z
    .string()
    .trim()
    .refine((text) => lengthOf(text) >= least && lengthOf(text) <= most, {
      error: least === 0 ? `must have at most ${most} characters` : `must have ${least} to ${most} characters`,
    })
    .refine((text) => !hasControl(text), { error: 'must hold no control characters' })
    .meta({ minLength: least, maxLength: most })

/** What things are called: 1 to 64 characters. */
export const nameText: z.ZodType<string, string> = line(1, 64)

/** The owner's own word for an entry: up to 64 characters. */
export const labelText: z.ZodType<string, string> = line(0, 64)

/** What a token's `aud` is compared with: 1 to 200 characters. */
export const audienceText: z.ZodType<string, string> = line(1, 200)

/** A text that was typed to find something by: up to 254 characters. */
export const searchText: z.ZodType<string, string> = line(0, 254)

/** Up to 500 characters, over several lines if need be. */
export const descriptionText: z.ZodType<string, string> = z
  .string()
  .trim()
  .refine((text) => lengthOf(text) <= 500, { error: 'must have at most 500 characters' })
  .refine((text) => !hasControlBesideLines(text), { error: 'must hold no control characters' })
  .meta({ maxLength: 500 })

/** Anything that is a secret or is compared as it stands: never trimmed. */
export const secretText: z.ZodType<string, string> = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(20_000, { error: 'must have at most 20000 characters' })

/** A time in ISO 8601, in UTC, to the millisecond: `2026-11-21T12:00:00.000Z`. */
export const timeText: z.ZodType<string, string> = z.iso.datetime({
  error: 'must be a time in UTC as in 2026-11-21T12:00:00Z',
})

/** The id of a row. */
export const idText = (kind: string): z.ZodType<string, string> =>
  z.string().regex(new RegExp(`^${kind}_[0-9a-z]{20}$`))

/** The version of what is changed. */
export const versionNumber: z.ZodType<number, number> = z
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be 1 or more' })
