import { setImmediate as nextRound } from 'node:timers/promises'
import type { LoggedRequest } from '../../storage/requestLog.ts'
import { excerptsMs } from '../../usage/requestLog/requestLogUpkeep.ts'
import { getLogTime } from '../../usage/requestLog/logId.ts'
import { apiErrors } from '../apiErrors.ts'
import { defaultPageLimit } from '../contract/page.ts'
import type { Page } from '../contract/page.ts'
import type { RequestDetailsView, RequestEntryView, RequestsCsvQuery, RequestsQuery } from '../contract/requestLog.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { requireViewer } from '../handler.ts'
import type { Caller, ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { getKeyNetwork } from '../views/toApiKeyView.ts'
import { toCsvFileName } from '../views/csv.ts'
import type { CsvSubject } from '../views/csv.ts'
import { toRequestsCsv } from '../views/requestsCsv.ts'
import { toRequestEntryView } from '../views/toRequestEntryView.ts'

/** How late another instance may write a request. */
const lateMs = 5_000

/** Most requests in a CSV file. */
const maxCsvRows = 10_000
/** SQLite is read in this thread, so a page of rows delays other requests. */
const csvRowsAtOnce = 500

/** A log, and the facts that name its CSV file. */
interface LogTarget {
  readonly keyId: string
  readonly file: CsvSubject
}

/** The routes of the request log. */
export const requestLogHandlers = ({
  storage,
  now,
}: ControlParts): Handlers<
  | 'GET /api/apps/{appId}/requests'
  | 'GET /api/apps/{appId}/requests.csv'
  | 'GET /api/apps/{appId}/requests/{logId}'
  | 'GET /api/keys/{keyId}/requests'
  | 'GET /api/keys/{keyId}/requests.csv'
  | 'GET /api/keys/{keyId}/requests/{logId}'
> => {
  const findAppLog = async (caller: Caller, appId: string): Promise<LogTarget | undefined> => {
    const userId = requireViewer(caller).user.id
    const app = await storage.apps.find({ id: appId, userId })
    const key = await storage.keys.findByApp({ appId, userId })
    return app && key && { keyId: key.id, file: app }
  }
  const findKeyLog = async (caller: Caller, id: string): Promise<LogTarget | undefined> => {
    const key = await storage.keys.find({ id, userId: requireViewer(caller).user.id })
    return key?.appId === null ? { keyId: id, file: { id, name: key.name, network: getKeyNetwork(key) } } : undefined
  }

  const list = async (
    target: LogTarget | undefined,
    { cursor, after, limit = defaultPageLimit, ...filters }: RequestsQuery,
  ): Promise<HandlerResult<Page<RequestEntryView>>> => {
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
  const getCsv = async (target: LogTarget | undefined, query: RequestsCsvQuery): Promise<HandlerResult<string>> => {
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
  const get = async (target: LogTarget | undefined, id: string): Promise<HandlerResult<RequestDetailsView>> => {
    if (target === undefined) return { error: apiErrors.notFound() }
    const { keyId } = target
    const at = getLogTime(id)
    const request = await storage.requestLog.find({ keyId, at, id })
    if (request === undefined) return { error: apiErrors.notFound() }
    const excerpts = await storage.requestLog.findExcerpts({ keyId, at, id, from: now() - excerptsMs })
    const { params = null, response = null } = excerpts ?? {}
    return { response: { ...toRequestEntryView(request), params, response } }
  }

  return {
    'GET /api/apps/{appId}/requests': async ({ params, query, caller }) =>
      list(await findAppLog(caller, params.appId), query),
    'GET /api/apps/{appId}/requests.csv': async ({ params, query, caller }) =>
      getCsv(await findAppLog(caller, params.appId), query),
    'GET /api/apps/{appId}/requests/{logId}': async ({ params, caller }) =>
      get(await findAppLog(caller, params.appId), params.logId),
    'GET /api/keys/{keyId}/requests': async ({ params, query, caller }) =>
      list(await findKeyLog(caller, params.keyId), query),
    'GET /api/keys/{keyId}/requests.csv': async ({ params, query, caller }) =>
      getCsv(await findKeyLog(caller, params.keyId), query),
    'GET /api/keys/{keyId}/requests/{logId}': async ({ params, caller }) =>
      get(await findKeyLog(caller, params.keyId), params.logId),
  }
}
