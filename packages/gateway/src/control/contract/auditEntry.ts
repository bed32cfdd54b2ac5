import { z } from 'zod'
import { timeText } from './texts.ts'

/** Something that was done to an account or what it owns. */
export interface AuditEntryView {
  readonly id: number
  readonly at: string
  /** Whose account it concerns. */
  readonly userId: string | null
  /** Who did it: a user's id, or such as `operator`. */
  readonly actor: string
  /** What, such as `key.rotate`. */
  readonly action: string
  /** The id of what it was done to. */
  readonly subject: string | null
  readonly ip: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** @see AuditEntryView */
export const auditEntryView: z.ZodType<AuditEntryView> = z
  .strictObject({
    id: z.int(),
    at: timeText,
    userId: z.string().nullable(),
    actor: z.string(),
    action: z.string(),
    subject: z.string().nullable(),
    ip: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'AuditEntry' })
