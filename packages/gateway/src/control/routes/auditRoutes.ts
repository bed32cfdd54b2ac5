import { defaultPageLimit } from '../contract/page.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { toCsv } from '../views/csv.ts'
import { listAuditEntries } from '../views/listAuditEntries.ts'
import {
  adminAuditFilters,
  adminAuditQuery,
  auditEntriesView,
  auditFilters,
  auditQuery,
} from '../contract/auditEntry.ts'
import { csvText } from '../contract/texts.ts'
import type { AdminAuditFilters, AdminAuditQuery, AuditEntriesView, AuditEntryView } from '../contract/controlApi.d.ts'
import { requireAccountId, route } from '../route.ts'
import type { ControlParts, HandlerResult, Route } from '../route.ts'

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

const list = (
  parts: ControlParts,
  { userId, actor, subject, action, from, to }: AdminAuditFilters,
  { before, limit, ownerId }: { before?: number | undefined; limit: number; ownerId: string | undefined },
): Promise<readonly AuditEntryView[]> =>
  listAuditEntries(
    parts,
    {
      limit,
      ...(userId === undefined ? {} : { userId }),
      ...(actor === undefined ? {} : { actor }),
      ...(subject === undefined ? {} : { subject }),
      ...(before === undefined ? {} : { before }),
      ...(action === undefined ? {} : { action }),
      ...(from === undefined ? {} : { from: Date.parse(from) }),
      ...(to === undefined ? {} : { to: Date.parse(to) }),
    },
    ownerId,
  )

/** @param ownerId - The account whose log it is; `undefined`: that of all accounts. */
const toPage = async (
  parts: ControlParts,
  { cursor, limit = defaultPageLimit, ...filters }: AdminAuditQuery,
  ownerId?: string,
): Promise<HandlerResult<AuditEntriesView>> => {
  const [before] = (cursor === undefined ? [] : fromCursor(cursor, ['number'])) ?? []
  if (cursor !== undefined && typeof before !== 'number') return { error: invalidCursor() }
  const entries = await list(parts, filters, {
    before: typeof before === 'number' ? before : undefined,
    limit: limit + 1,
    ownerId,
  })
  const items = entries.slice(0, limit)
  const last = entries.length > limit ? items.at(-1) : undefined
  return { response: { items, next: last === undefined ? null : toCursor([last.id]) } }
}

const toFile = async (
  parts: ControlParts,
  filters: AdminAuditFilters,
  ownerId?: string,
): Promise<HandlerResult<string>> => {
  const entries: AuditEntryView[] = []
  while (entries.length < maxCsvRows) {
    const page = await list(parts, filters, { before: entries.at(-1)?.id, limit: rowsAtOnce, ownerId })
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

/** The routes of the audit log. */
export const auditRoutes: readonly Route[] = [
  route(
    'GET /api/audit-log',
    {
      summary: 'Lists the changes of the account and everything it owns, newest first.',
      access: 'read',
      query: auditQuery,
      response: auditEntriesView,
    },
    ({ query, caller }, parts) => {
      const id = requireAccountId(caller)
      return toPage(parts, { ...query, userId: id }, id)
    },
  ),

  route(
    'GET /api/audit-log.csv',
    {
      summary: 'Gets the changes of the account as CSV.',
      description: 'The newest 10,000 entries.',
      access: 'read',
      isExpensive: true,
      type: 'text/csv',
      query: auditFilters,
      response: csvText,
    },
    ({ query, caller }, parts) => {
      const id = requireAccountId(caller)
      return toFile(parts, { ...query, userId: id }, id)
    },
  ),

  route(
    'GET /api/admin/audit-log',
    {
      summary: 'Lists the changes of all accounts, newest first.',
      access: 'operator',
      query: adminAuditQuery,
      response: auditEntriesView,
    },
    ({ query }, parts) => toPage(parts, query),
  ),

  route(
    'GET /api/admin/audit-log.csv',
    {
      summary: 'Gets the changes of all accounts as CSV.',
      description: 'The newest 10,000 entries.',
      access: 'operator',
      isExpensive: true,
      type: 'text/csv',
      query: adminAuditFilters,
      response: csvText,
    },
    ({ query }, parts) => toFile(parts, query),
  ),
]
