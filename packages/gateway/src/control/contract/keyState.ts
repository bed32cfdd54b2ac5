import { z } from 'zod'
import { timeText } from './texts.ts'

/** `rotated`: active, and so is, for a while, the key before it. */
export type KeyState = 'active' | 'rotated' | 'expired' | 'revoked'

/** What is shown of any key. */
export interface KeyFacts {
  readonly state: KeyState
  /** The last four characters. */
  readonly ending: string
  /** Whether it can be shown again. */
  readonly revealable: boolean
  readonly createdAt: string
  readonly rotatedAt: string | null
  readonly expiresAt: string | null
  /** Until when the key before the last rotation works. */
  readonly oldUntil: string | null
}

/** How a key is rotated. */
export interface RotateBody {
  /** For how many days the old key goes on working, 0 to 7. @default 0 */
  readonly graceDays?: number
  /** When the new key ends; `null` for never. @default as it was */
  readonly expiresAt?: string | null
}

/** The members of `KeyFacts`. */
export const keyFacts: {
  readonly [Name in keyof KeyFacts]: z.ZodType<KeyFacts[Name]>
} = {
  state: z.enum(['active', 'rotated', 'expired', 'revoked']),
  ending: z.string().length(4),
  revealable: z.boolean(),
  createdAt: timeText,
  rotatedAt: timeText.nullable(),
  expiresAt: timeText.nullable(),
  oldUntil: timeText.nullable(),
}

/** Longest grace of an old key. */
export const maxGraceDays = 7

/** @see RotateBody */
export const rotateBody: z.ZodType<RotateBody, RotateBody> = z.strictObject({
  graceDays: z
    .int({ error: `must be a whole number from 0 to ${maxGraceDays}` })
    .min(0, { error: `must be a whole number from 0 to ${maxGraceDays}` })
    .max(maxGraceDays, { error: `must be a whole number from 0 to ${maxGraceDays}` })
    .exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
})
