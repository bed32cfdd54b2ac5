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
  /** The author of the change: the id of a user or access token, or `operator`. */
  readonly actor: string
  /** Such as `key.rotate`. */
  readonly action: string
  /** The id of the object that was changed. */
  readonly subject: string | null
  readonly ip: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** Filters the audit log. */
export interface AuditFilters {
  /** An action, such as `key.rotate`, or a group of actions, such as `key`. */
  readonly action?: string
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

const filters = {
  action: z
    .string()
    .regex(/^[a-z][a-zA-Z]{0,31}(?:\.[a-z][a-zA-Z]{0,31})?$/, {
      error: 'must be an action such as key.rotate, or a group such as key',
    })
    .exactOptional(),
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
    actor: z.string(),
    action: z.string(),
    subject: z.string().nullable(),
    ip: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'AuditEntry' })
