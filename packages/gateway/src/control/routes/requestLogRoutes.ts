import { setImmediate as nextRound } from 'node:timers/promises'
import type { LoggedRequest } from '../../storage/requestLog.ts'
import { excerptsMs } from '../../usage/requestLog/requestLogUpkeep.ts'
import { getLogTime } from '../../usage/requestLog/logId.ts'
import { apiErrors } from '../apiErrors.ts'
import { defaultPageLimit } from '../contract/page.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { toCsvFileName } from '../views/csv.ts'
import { toRequestsCsv } from '../views/requestsCsv.ts'
import { toRequestEntryView } from '../views/toRequestEntryView.ts'
import { requestDetailsView, requestEntriesView, requestsCsvQuery, requestsQuery } from '../contract/requestLog.ts'
import { csvText } from '../contract/texts.ts'
import type {
  RequestDetailsView,
  RequestEntriesView,
  RequestsCsvQuery,
  RequestsQuery,
} from '../contract/controlApi.d.ts'
import { route } from '../route.ts'
import type { ControlParts, HandlerResult, Route } from '../route.ts'
import { findAppLog, findKeyLog } from './findLog.ts'
import type { LogTarget } from './findLog.ts'

/** How late another instance may write a request. */
const lateMs = 5_000

/** Most requests in a CSV file. */
const maxCsvRows = 10_000
/** SQLite is read in this thread, so a page of rows delays other requests. */
const csvRowsAtOnce = 500

const list = async (
  { storage }: ControlParts,
  target: LogTarget | undefined,
  { cursor, after, limit = defaultPageLimit, ...filters }: RequestsQuery,
): Promise<HandlerResult<RequestEntriesView>> => {
  if (target === undefined) return { error: apiErrors.notFound() }
  const [at, id] = (cursor === undefined ? [] : fromCursor(cursor, ['number', 'string'])) ?? []
  const before = typeof at === 'number' && typeof id === 'string' ? { at, id } : undefined
  if (cursor !== undefined && before === undefined) return { error: invalidCursor() }
  const found = await storage.requestLog.list({
    ...filters,
    keyId: target.keyId,
    before,
    from: after === undefined ? undefined : getLogTime(after) - lateMs,
    limit: limit + 1,
  })
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  return {
    response: {
      items: shown.map(toRequestEntryView),
      next: last === undefined ? null : toCursor([last.at, last.id]),
    },
  }
}

const getCsv = async (
  { storage }: ControlParts,
  target: LogTarget | undefined,
  query: RequestsCsvQuery,
): Promise<HandlerResult<string>> => {
  if (target === undefined) return { error: apiErrors.notFound() }
  const rows: LoggedRequest[] = []
  for (;;) {
    const found = await storage.requestLog.list({
      ...query,
      keyId: target.keyId,
      before: rows.at(-1),
      limit: csvRowsAtOnce,
    })
    rows.push(...found)
    if (found.length < csvRowsAtOnce || rows.length >= maxCsvRows) break
    await nextRound()
  }
  return { response: toRequestsCsv(rows.map(toRequestEntryView)), fileName: toCsvFileName(target.file, ['requests']) }
}

const get = async (
  { storage, now }: ControlParts,
  target: LogTarget | undefined,
  id: string,
): Promise<HandlerResult<RequestDetailsView>> => {
  if (target === undefined) return { error: apiErrors.notFound() }
  const { keyId } = target
  const at = getLogTime(id)
  const request = await storage.requestLog.find({ keyId, at, id })
  if (request === undefined) return { error: apiErrors.notFound() }
  const excerpts = await storage.requestLog.findExcerpts({ keyId, at, id, from: now() - excerptsMs })
  const { params = null, response = null } = excerpts ?? {}
  return { response: { ...toRequestEntryView(request), revertData: request.revertData, params, response } }
}

/** The routes of the request log. */
export const requestLogRoutes: readonly Route[] = [
  route(
    'GET /api/apps/{appId}/requests',
    {
      summary: "Lists an app's requests in the log, newest first: failed ones, and a sample of the others.",
      access: 'read',
      query: requestsQuery,
      response: requestEntriesView,
    },
    async ({ params, query, caller }, parts) => list(parts, await findAppLog(parts, caller, params.appId), query),
  ),

  route(
    'GET /api/apps/{appId}/requests.csv',
    {
      summary: "Gets the newest 10,000 of an app's requests in the log as CSV.",
      access: 'read',
      isExpensive: true,
      type: 'text/csv',
      query: requestsCsvQuery,
      response: csvText,
    },
    async ({ params, query, caller }, parts) => getCsv(parts, await findAppLog(parts, caller, params.appId), query),
  ),

  route(
    'GET /api/apps/{appId}/requests/{logId}',
    {
      summary:
        "Gets one of an app's requests in the log, with excerpts of its params and response if they were recorded.",
      access: 'read',
      response: requestDetailsView,
    },
    async ({ params, caller }, parts) => get(parts, await findAppLog(parts, caller, params.appId), params.logId),
  ),

  route(
    'GET /api/keys/{keyId}/requests',
    {
      summary: "Lists an API key's requests in the log, newest first: failed ones, and a sample of the others.",
      access: 'read',
      query: requestsQuery,
      response: requestEntriesView,
    },
    async ({ params, query, caller }, parts) => list(parts, await findKeyLog(parts, caller, params.keyId), query),
  ),

  route(
    'GET /api/keys/{keyId}/requests.csv',
    {
      summary: "Gets the newest 10,000 of an API key's requests in the log as CSV.",
      access: 'read',
      isExpensive: true,
      type: 'text/csv',
      query: requestsCsvQuery,
      response: csvText,
    },
    async ({ params, query, caller }, parts) => getCsv(parts, await findKeyLog(parts, caller, params.keyId), query),
  ),

  route(
    'GET /api/keys/{keyId}/requests/{logId}',
    {
      summary:
        "Gets one of an API key's requests in the log, with excerpts of its params and response if they were recorded.",
      access: 'read',
      response: requestDetailsView,
    },
    async ({ params, caller }, parts) => get(parts, await findKeyLog(parts, caller, params.keyId), params.logId),
  ),
]
