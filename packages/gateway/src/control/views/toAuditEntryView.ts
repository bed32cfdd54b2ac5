import type { AuditEntry } from '../../storage/auditLog.ts'
import type { AuditEntryView } from '../contract/auditEntry.ts'
import { isoTime } from './times.ts'

/** An entry of the audit log as the API shows it. */
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
