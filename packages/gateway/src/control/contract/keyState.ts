import { z } from 'zod'
import { timeText } from './texts.ts'

/** The state of a key. `rotated`: active, and the previous key still works during its grace period. */
export type KeyState = 'active' | 'rotated' | 'expired' | 'revoked'

/** The details common to all keys. */
export interface KeyDetails {
  readonly state: KeyState
  /** The key's last four characters. */
  readonly ending: string
  /** Whether the key can be revealed. */
  readonly revealable: boolean
  readonly createdAt: string
  readonly rotatedAt: string | null
  readonly expiresAt: string | null
  /** When the grace period of the previous key ends. */
  readonly oldUntil: string | null
}

/** Rotates a key. */
export interface RotateBody {
  /** How many days the old key keeps working, 0 to 7. @default 0 */
  readonly graceDays?: number
  /** When the new key expires; `null` for no expiry. @default the old key's expiry */
  readonly expiresAt?: string | null
}

/** The schemas of the members of `KeyDetails`. */
export const keyDetails: {
  readonly [Name in keyof KeyDetails]: z.ZodType<KeyDetails[Name]>
} = {
  state: z.enum(['active', 'rotated', 'expired', 'revoked']),
  ending: z.string().length(4),
  revealable: z.boolean(),
  createdAt: timeText,
  rotatedAt: timeText.nullable(),
  expiresAt: timeText.nullable(),
  oldUntil: timeText.nullable(),
}

/** Longest grace period of an old key, in days. */
export const maxGraceDays = 7

/** The schema of `RotateBody`. */
export const rotateBody: z.ZodType<RotateBody, RotateBody> = z.strictObject({
  graceDays: z
    .int({ error: `must be a whole number from 0 to ${maxGraceDays}` })
    .min(0, { error: `must be a whole number from 0 to ${maxGraceDays}` })
    .max(maxGraceDays, { error: `must be a whole number from 0 to ${maxGraceDays}` })
    .exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
})
