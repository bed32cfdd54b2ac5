import { readUsage } from '../../usage/metering/readUsage.ts'
import type { UsageItem, UsageQuery } from '../../usage/metering/readUsage.ts'
import { dayMs } from '../../lib/time.ts'
import { apiErrors } from '../apiErrors.ts'
import type { ApiError } from '../apiErrors.ts'
import { csvText } from '../contract/texts.ts'
import type { UsageReportCsvQuery } from '../contract/controlApi.d.ts'
import { usageReportCsvQuery, usageReportQuery, usageReportView } from '../contract/usageReport.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { route } from '../route.ts'
import type { Route } from '../route.ts'
import { toCsv } from '../views/csv.ts'

const columns = ['at', 'userId', 'appId', 'keyId', 'network', 'method', 'calls', 'units', 'bytes'] as const
const maxDays = 366
const rowsPerPage = 1_000
const maxCsvRows = 100_000

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
