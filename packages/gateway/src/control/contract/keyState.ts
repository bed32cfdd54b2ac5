import { z } from 'zod'
import { timeText, wholeNumber } from './texts.ts'

export const keyState = z
  .enum(['active', 'rotated', 'expired', 'revoked'])
  .describe('The state of a key. `rotated`: active, and the previous key still works during its grace period.')

/** The details common to all keys. */
export const keyDetails = {
  state: keyState,
  ending: z.string().length(4).describe("The key's last four characters."),
  revealable: z.boolean().describe('Whether the key can be revealed.'),
  createdAt: timeText,
  rotatedAt: timeText.nullable(),
  expiresAt: timeText.nullable(),
  oldUntil: timeText.nullable().describe('When the grace period of the previous key ends.'),
}

/** Longest grace period of an old key, in days. */
export const maxGraceDays = 7

export const rotateBody = z
  .strictObject({
    graceDays: wholeNumber(0, maxGraceDays)
      .exactOptional()
      .describe('How many days the old key keeps working, 0 to 7. @default 0'),
    expiresAt: timeText
      .nullable()
      .exactOptional()
      .describe("When the new key expires; `null` for no expiry. @default the old key's expiry"),
  })
  .describe('Rotates a key.')
