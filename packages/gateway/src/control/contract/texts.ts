import { z } from 'zod'

// Lone surrogates are not characters, and PostgreSQL cannot store U+0000.
const hasControl = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text)
const hasControlBesideLines = (text: string): boolean => /\p{Cs}|[^\P{Cc}\n\r\t]/u.test(text)
const countCharacters = (text: string): number => [...text].length

/** A single line of text: trimmed, counted in code points, without control characters. */
const line = (least: number, most: number): z.ZodType<string, string> =>
  z
    .string()
    .trim()
    .refine((text) => countCharacters(text) >= least && countCharacters(text) <= most, {
      error: least === 0 ? `must have at most ${most} characters` : `must have ${least} to ${most} characters`,
    })
    .refine((text) => !hasControl(text), { error: 'must not contain control characters' })
    .meta({ minLength: least, maxLength: most })

/** A name: 1 to 64 characters. */
export const nameText: z.ZodType<string, string> = line(1, 64)

/** A label: up to 64 characters. */
export const labelText: z.ZodType<string, string> = line(0, 64)

/** A JWT audience: 1 to 200 characters. */
export const audienceText: z.ZodType<string, string> = line(1, 200)

/** A search term: up to 254 characters. */
export const searchText: z.ZodType<string, string> = line(0, 254)

/** A description: up to 500 characters, with line breaks. */
export const descriptionText: z.ZodType<string, string> = z
  .string()
  .trim()
  .refine((text) => countCharacters(text) <= 500, { error: 'must have at most 500 characters' })
  .refine((text) => !hasControlBesideLines(text), { error: 'must not contain control characters' })
  .meta({ maxLength: 500 })

/** CSV. */
export const csvText: z.ZodString = z.string()

/** A secret or another exact value. It is not trimmed. */
export const secretText: z.ZodType<string, string> = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(20_000, { error: 'must have at most 20000 characters' })

/** A time in ISO 8601, in UTC, to the millisecond: `2026-11-21T12:00:00.000Z`. */
export const timeText: z.ZodISODateTime = z.iso.datetime({
  error: 'must be a UTC time such as 2026-11-21T12:00:00Z',
})

/** An id with the prefix `kind`, a part of a regular expression. */
export const idText = (kind: string): z.ZodType<string, string> =>
  z.string().regex(new RegExp(`^${kind}_[0-9a-z]{20}$`))

/** The version of an edited object. */
export const versionNumber: z.ZodType<number, number> = z
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be 1 or more' })

/** A whole number in a range. */
export const wholeNumber = (least: number, most: number): z.ZodInt => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** A switch. */
export const flag: z.ZodBoolean = z.boolean({ error: 'must be true or false' })

/** An email address. */
export const emailText: z.ZodString = z
  .string()
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(254, { error: 'must have at most 254 characters' })
