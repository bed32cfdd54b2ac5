import type { AuditEntry } from '../../storage/auditLog.ts'
import type { AuditEntryView } from '../contract/controlApi.d.ts'
import { isoTime } from './times.ts'

/**
 * Converts a stored audit log entry to its API form.
 * @param names - Of records, by id.
 */
export const toAuditEntryView = (
  { id, at, userId, actor, action, subject, ip, detail }: AuditEntry & { readonly id: number },
  names: ReadonlyMap<string, string>,
): AuditEntryView => ({
  id,
  at: isoTime(at),
  userId,
  userEmail: names.get(userId ?? '') ?? null,
  actor,
  actorName: names.get(actor) ?? null,
  action,
  subject,
  subjectName: names.get(subject ?? '') ?? null,
  ip,
  detail,
})
