import { z } from 'zod'
import { pageMembers } from './page.ts'
import type { PageQuery } from './page.ts'
import { idText, timeText } from './texts.ts'

/** A logged change of an account or of something it owns. */
export interface AuditEntryView {
  readonly id: number
  readonly at: string
  /** The account that was changed. */
  readonly userId: string | null
  /** Its email address; `null` if it was deleted. */
  readonly userEmail: string | null
  /** The author of the change: the id of a user or access token, `operator` for the command line, or `nobody` if nobody was logged in. */
  readonly actor: string
  /** The email address of the user, or the label of the access token; `null` if it was deleted, or is not yours and you are no operator. */
  readonly actorName: string | null
  /** Such as `key.rotate`. */
  readonly action: string
  /** The id of the object that was changed. */
  readonly subject: string | null
  /** Its name; `null` if it was deleted or has none. */
  readonly subjectName: string | null
  readonly ip: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** Filters the audit log. */
export interface AuditFilters {
  /** An action, such as `key.rotate`, or a group of actions, such as `key`. */
  readonly action?: string
  /** Only entries by this author: the id of a user or access token, `operator` or `nobody`. */
  readonly actor?: string
  /** Only entries about the object with this id. */
  readonly subject?: string
  /** Only entries from this time on. */
  readonly from?: string
  /** Only entries before this time. */
  readonly to?: string
}

/** Selects a page of the audit log. */
export interface AuditQuery extends PageQuery, AuditFilters {}

/** Filters the audit log of all accounts. */
export interface AdminAuditFilters extends AuditFilters {
  /** Only entries about this account. */
  readonly userId?: string
}

/** Selects a page of the audit log of all accounts. */
export interface AdminAuditQuery extends PageQuery, AdminAuditFilters {}

const recordId = z.string().regex(/^[0-9A-Za-z_]{1,40}$/, { error: 'must be an id, such as that of an app' })

const filters = {
  action: z
    .string()
    .regex(/^[a-z][a-zA-Z]{0,31}(?:\.[a-z][a-zA-Z]{0,31})?$/, {
      error: 'must be an action such as key.rotate, or a group such as key',
    })
    .exactOptional(),
  actor: recordId.exactOptional(),
  subject: recordId.exactOptional(),
  from: timeText.exactOptional(),
  to: timeText.exactOptional(),
}
const userId = idText('usr').exactOptional()

/** The schema of `AuditFilters`. */
export const auditFilters: z.ZodType<AuditFilters, unknown> = z.strictObject(filters)

/** The schema of `AuditQuery`. */
export const auditQuery: z.ZodType<AuditQuery, unknown> = z.strictObject({ ...pageMembers, ...filters })

/** The schema of `AdminAuditFilters`. */
export const adminAuditFilters: z.ZodType<AdminAuditFilters, unknown> = z.strictObject({ ...filters, userId })

/** The schema of `AdminAuditQuery`. */
export const adminAuditQuery: z.ZodType<AdminAuditQuery, unknown> = z.strictObject({
  ...pageMembers,
  ...filters,
  userId,
})

/** The schema of `AuditEntryView`. */
export const auditEntryView: z.ZodType<AuditEntryView> = z
  .strictObject({
    id: z.int(),
    at: timeText,
    userId: z.string().nullable(),
    userEmail: z.string().nullable(),
    actor: z.string(),
    actorName: z.string().nullable(),
    action: z.string(),
    subject: z.string().nullable(),
    subjectName: z.string().nullable(),
    ip: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'AuditEntry' })
