import type { AuditLog } from '../../storage/auditLog.ts'
import type { AuditEntryView } from '../contract/controlApi.d.ts'
import type { ControlParts } from '../route.ts'
import { toAuditEntryView } from './toAuditEntryView.ts'

/**
 * Lists entries of the audit log with the names of their records, the newest first.
 * @param ownerId - The account whose log it is; `undefined`: that of all accounts.
 */
export const listAuditEntries = async (
  { storage: { auditLog } }: Pick<ControlParts, 'storage'>,
  page: Parameters<AuditLog['list']>[0],
  ownerId?: string,
): Promise<readonly AuditEntryView[]> => {
  const entries = await auditLog.list(page)
  const ids = entries.flatMap((entry) => [entry.userId, entry.actor, entry.subject].filter((id) => id !== null))
  const names = await auditLog.findNames(ids, { ownerId })
  return entries.map((entry) => toAuditEntryView(entry, names))
}
