import { narrowLimits, resolveLimits } from '../../auth/key/keyLimits.ts'
import { readTopUsage } from '../../usage/limits/readTopUsage.ts'
import type { TopUsage } from '../../usage/limits/readTopUsage.ts'
import { readUsage } from '../../usage/metering/readUsage.ts'
import type { UsageItem, UsageQuery } from '../../usage/metering/readUsage.ts'
import { dayMs } from '../../lib/time.ts'
import { getUtcDay } from '../../lib/utcDay.ts'
import { apiErrors } from '../apiErrors.ts'
import type { ApiError } from '../apiErrors.ts'
import { csvText } from '../contract/texts.ts'
import type { TopUsageView, UsageReportCsvQuery } from '../contract/controlApi.d.ts'
import {
  topUsageQuery,
  topUsageView,
  usageReportCsvQuery,
  usageReportQuery,
  usageReportView,
} from '../contract/usageReport.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { route } from '../route.ts'
import type { ControlParts, Route } from '../route.ts'
import { toCsv } from '../views/csv.ts'

const columns = ['at', 'userId', 'appId', 'keyId', 'network', 'method', 'calls', 'units', 'bytes'] as const
const maxDays = 366
const rowsPerPage = 1_000
const maxCsvRows = 100_000
const maxTop = 10

const toQuery = ({
  from,
  to,
  step = 'month',
  userId,
}: UsageReportCsvQuery): UsageQuery | { readonly error: ApiError } => {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const fix =
    end <= start
      ? 'must be after from'
      : end - start > maxDays * dayMs
        ? `must be at most ${maxDays} days after from`
        : ''
  if (fix !== '') return { error: apiErrors.invalid([{ field: 'to', fix }]) }
  return { from: start, to: end, step, userId, minRows: rowsPerPage }
}

const toTopQuota = (
  { config }: ControlParts,
  { id, units, owner }: TopUsage['quotas'][number],
): TopUsageView['quotas'][number] => {
  const { limits: defaults } = config()
  const isApp = id.startsWith('app:')
  const name = owner?.app?.name ?? null
  const perDay =
    owner === undefined
      ? null
      : narrowLimits(
          owner.app?.limits ?? null,
          resolveLimits([owner.user.limits], isApp ? defaults.app : defaults.apiKey),
        ).perDay
  return {
    kind: isApp ? 'app' : 'apiKeys',
    id: id.slice(id.indexOf(':') + 1),
    name,
    userId: owner?.user.id ?? null,
    userName: owner?.user.email ?? null,
    units,
    perDay,
  }
}

/** The routes of usage reports. */
export const usageRoutes: readonly Route[] = [
  route(
    'GET /api/admin/usage',
    {
      summary: 'Lists what all apps and API keys used, for invoices.',
      access: 'operator',
      isExpensive: true,
      query: usageReportQuery,
      response: usageReportView,
    },
    async ({ query: { cursor, ...given } }, { storage }) => {
      const query = toQuery(given)
      if ('error' in query) return query
      const [after] = (cursor === undefined ? [] : fromCursor(cursor, ['string'])) ?? []
      if (cursor !== undefined && typeof after !== 'string') return { error: invalidCursor() }
      const { items, last } = await readUsage(storage, {
        ...query,
        after: typeof after === 'string' ? after : undefined,
      })
      return { response: { items, next: last === undefined ? null : toCursor([last]) } }
    },
  ),

  route(
    'GET /api/admin/usage/top',
    {
      summary: 'Lists the apps and accounts that used most on a day.',
      description: 'Of all instances. The days of past months are in `GET /api/admin/usage` only.',
      access: 'operator',
      isExpensive: true,
      query: topUsageQuery,
      response: topUsageView,
    },
    async ({ query: { day } }, parts) => {
      const chosen = getUtcDay(day === undefined ? parts.now() : Date.parse(day))
      const { quotas, accounts, units } = await readTopUsage(parts.storage, { day: chosen.day, limit: maxTop })
      const names = await parts.storage.auditLog.findNames(accounts.map(({ userId }) => userId))
      return {
        response: {
          day: chosen.text,
          quotas: quotas.map((quota) => toTopQuota(parts, quota)),
          accounts: accounts.map((account) => ({ ...account, userName: names.get(account.userId) ?? null })),
          units,
        },
      }
    },
  ),

  route(
    'GET /api/admin/usage.csv',
    {
      summary: 'Gets what all apps and API keys used as CSV.',
      description: `At most ${maxCsvRows} rows.`,
      access: 'operator',
      isExpensive: true,
      type: 'text/csv',
      query: usageReportCsvQuery,
      response: csvText,
    },
    async ({ query: given }, { storage }) => {
      const query = toQuery(given)
      if ('error' in query) return query
      const rows: UsageItem[] = []
      let after: string | undefined
      do {
        const { items, last } = await readUsage(storage, { ...query, after })
        for (const item of items) rows.push(item)
        after = last
        if (rows.length > maxCsvRows)
          return {
            error: apiErrors.invalid([
              { field: 'to', fix: `must be earlier: there are more than ${maxCsvRows} rows. Or add a userId` },
            ]),
          }
      } while (after !== undefined)
      return {
        response: toCsv([columns, ...rows.map((item) => columns.map((column) => item[column]))]),
        fileName: `keyrail-usage-${given.from}-${given.to}.csv`,
      }
    },
  ),
]
