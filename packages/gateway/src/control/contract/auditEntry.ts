import { z } from 'zod'
import { timeText } from './texts.ts'

/** A logged change of an account or of something it owns. */
export interface AuditEntryView {
  readonly id: number
  readonly at: string
  /** The account that was changed. */
  readonly userId: string | null
  /** Who made the change: the id of a user or access token, or `operator`. */
  readonly actor: string
  /** Such as `key.rotate`. */
  readonly action: string
  /** The id of the object that was changed. */
  readonly subject: string | null
  readonly ip: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** The schema of `AuditEntryView`. */
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
