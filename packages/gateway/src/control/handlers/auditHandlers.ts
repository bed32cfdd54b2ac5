import type { AdminAuditFilters, AdminAuditQuery, AuditEntryView } from '../contract/auditEntry.ts'
import { defaultPageLimit } from '../contract/page.ts'
import type { Page } from '../contract/page.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { requireViewer } from '../handler.ts'
import type { ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { toCsv } from '../views/csv.ts'
import { toAuditEntryView } from '../views/toAuditEntryView.ts'

const csvColumns = [
  'at',
  'userId',
  'actor',
  'action',
  'subject',
  'ip',
  'detail',
  'userEmail',
  'actorName',
  'subjectName',
]
const maxCsvRows = 10_000
const rowsAtOnce = 1_000

/** The routes of the audit log. */
export const auditHandlers = ({
  storage,
}: ControlParts): Handlers<
  'GET /api/audit-log' | 'GET /api/audit-log.csv' | 'GET /api/admin/audit-log' | 'GET /api/admin/audit-log.csv'
> => {
  const list = async (
    { userId, actor, subject, action, from, to }: AdminAuditFilters,
    { before, limit, ownerId }: { before?: number | undefined; limit: number; ownerId: string | undefined },
  ): Promise<readonly AuditEntryView[]> => {
    const entries = await storage.auditLog.list({
      limit,
      ...(userId === undefined ? {} : { userId }),
      ...(actor === undefined ? {} : { actor }),
      ...(subject === undefined ? {} : { subject }),
      ...(before === undefined ? {} : { before }),
      ...(action === undefined ? {} : { action }),
      ...(from === undefined ? {} : { from: Date.parse(from) }),
      ...(to === undefined ? {} : { to: Date.parse(to) }),
    })
    const ids = entries.flatMap((entry) => [entry.userId, entry.actor, entry.subject].filter((id) => id !== null))
    const names = await storage.auditLog.findNames(ids, { ownerId })
    return entries.map((entry) => toAuditEntryView(entry, names))
  }

  /** @param ownerId - The account whose log it is; `undefined`: that of all accounts. */
  const toPage = async (
    { cursor, limit = defaultPageLimit, ...filters }: AdminAuditQuery,
    ownerId?: string,
  ): Promise<HandlerResult<Page<AuditEntryView>>> => {
    const [before] = (cursor === undefined ? [] : fromCursor(cursor, ['number'])) ?? []
    if (cursor !== undefined && typeof before !== 'number') return { error: invalidCursor() }
    const entries = await list(filters, {
      before: typeof before === 'number' ? before : undefined,
      limit: limit + 1,
      ownerId,
    })
    const items = entries.slice(0, limit)
    const last = entries.length > limit ? items.at(-1) : undefined
    return { response: { items, next: last === undefined ? null : toCursor([last.id]) } }
  }

  const toFile = async (filters: AdminAuditFilters, ownerId?: string): Promise<HandlerResult<string>> => {
    const entries: AuditEntryView[] = []
    while (entries.length < maxCsvRows) {
      const page = await list(filters, { before: entries.at(-1)?.id, limit: rowsAtOnce, ownerId })
      entries.push(...page)
      if (page.length < rowsAtOnce) break
    }
    const rows = entries.map((entry) => [
      entry.at,
      entry.userId,
      entry.actor,
      entry.action,
      entry.subject,
      entry.ip,
      entry.detail === null ? null : JSON.stringify(entry.detail),
      entry.userEmail,
      entry.actorName,
      entry.subjectName,
    ])
    return {
      response: toCsv([csvColumns, ...rows]),
      fileName: 'keyrail-audit-log.csv',
    }
  }

  return {
    'GET /api/audit-log': ({ query, caller }) => {
      const { id } = requireViewer(caller).user
      return toPage({ ...query, userId: id }, id)
    },
    'GET /api/audit-log.csv': ({ query, caller }) => {
      const { id } = requireViewer(caller).user
      return toFile({ ...query, userId: id }, id)
    },
    'GET /api/admin/audit-log': ({ query }) => toPage(query),
    'GET /api/admin/audit-log.csv': ({ query }) => toFile(query),
  }
}
