import type { AuditEntry } from '../../storage/auditLog.ts'
import type { AuditEntryView } from '../contract/auditEntry.ts'
import { isoTime } from './times.ts'

/** Converts a stored audit log entry to its API form. */
export const toAuditEntryView = ({
  id,
  at,
  userId,
  actor,
  action,
  subject,
  ip,
  detail,
}: AuditEntry & { readonly id: number }): AuditEntryView => ({
  id,
  at: isoTime(at),
  userId,
  actor,
  action,
  subject,
  ip,
  detail,
})
