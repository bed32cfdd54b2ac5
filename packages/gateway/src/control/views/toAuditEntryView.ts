import type { AuditEntry } from '../../storage/auditLog.ts'
import { auditEntryView } from '../contract/auditEntry.ts'
import type { AuditEntryView } from '../contract/controlApi.d.ts'
import { createView } from './createView.ts'

const toEntry = createView(auditEntryView)

/**
 * Converts a stored audit log entry to its API form.
 * @param names - Of records, by id.
 */
export const toAuditEntryView = (
  entry: AuditEntry & { readonly id: number },
  names: ReadonlyMap<string, string>,
): AuditEntryView => ({
  ...toEntry(entry),
  userEmail: names.get(entry.userId ?? '') ?? null,
  actorName: names.get(entry.actor) ?? null,
  subjectName: names.get(entry.subject ?? '') ?? null,
})
