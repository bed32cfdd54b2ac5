import type { AdminAuditFilters, AdminAuditQuery, AuditEntryView } from '../contract/auditEntry.ts'
import { defaultPageLimit } from '../contract/page.ts'
import type { Page } from '../contract/page.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { requireViewer } from '../handler.ts'
import type { ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { toCsv } from '../views/csv.ts'
import { toAuditEntryView } from '../views/toAuditEntryView.ts'

const maxCsvRows = 10_000
const rowsAtOnce = 1_000

/** The routes of the audit log. */
export const auditHandlers = ({
  storage,
}: ControlParts): Handlers<
  'GET /api/audit-log' | 'GET /api/audit-log.csv' | 'GET /api/admin/audit-log' | 'GET /api/admin/audit-log.csv'
> => {
  const list = async (
    { userId, action, from, to }: AdminAuditFilters,
    { before, limit }: { before?: number | undefined; limit: number },
  ): Promise<readonly AuditEntryView[]> => {
    const entries = await storage.auditLog.list({
      limit,
      ...(userId === undefined ? {} : { userId }),
      ...(before === undefined ? {} : { before }),
      ...(action === undefined ? {} : { action }),
      ...(from === undefined ? {} : { from: Date.parse(from) }),
      ...(to === undefined ? {} : { to: Date.parse(to) }),
    })
    return entries.map(toAuditEntryView)
  }

  const toPage = async ({
    cursor,
    limit = defaultPageLimit,
    ...filters
  }: AdminAuditQuery): Promise<HandlerResult<Page<AuditEntryView>>> => {
    const [before] = (cursor === undefined ? [] : fromCursor(cursor, ['number'])) ?? []
    if (cursor !== undefined && typeof before !== 'number') return { error: invalidCursor() }
    const entries = await list(filters, { before: typeof before === 'number' ? before : undefined, limit: limit + 1 })
    const items = entries.slice(0, limit)
    const last = entries.length > limit ? items.at(-1) : undefined
    return { response: { items, next: last === undefined ? null : toCursor([last.id]) } }
  }

  const toFile = async (filters: AdminAuditFilters): Promise<HandlerResult<string>> => {
    const entries: AuditEntryView[] = []
    while (entries.length < maxCsvRows) {
      const page = await list(filters, { before: entries.at(-1)?.id, limit: rowsAtOnce })
      entries.push(...page)
      if (page.length < rowsAtOnce) break
    }
    const rows = entries.map(({ at, userId, actor, action, subject, ip, detail }) => [
      at,
      userId,
      actor,
      action,
      subject,
      ip,
      detail === null ? null : JSON.stringify(detail),
    ])
    return {
      response: toCsv([['at', 'userId', 'actor', 'action', 'subject', 'ip', 'detail'], ...rows]),
      fileName: 'keyrail-audit-log.csv',
    }
  }

  return {
    'GET /api/audit-log': ({ query, caller }) => toPage({ ...query, userId: requireViewer(caller).user.id }),
    'GET /api/audit-log.csv': ({ query, caller }) => toFile({ ...query, userId: requireViewer(caller).user.id }),
    'GET /api/admin/audit-log': ({ query }) => toPage(query),
    'GET /api/admin/audit-log.csv': ({ query }) => toFile(query),
  }
}
