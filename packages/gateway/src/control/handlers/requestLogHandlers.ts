import { excerptsMs } from '../../usage/requestLog/requestLogUpkeep.ts'
import { getLogTime } from '../../usage/requestLog/logId.ts'
import { apiErrors } from '../apiErrors.ts'
import { defaultPageLimit } from '../contract/page.ts'
import type { Page } from '../contract/page.ts'
import type { RequestDetailsView, RequestEntryView, RequestsQuery } from '../contract/requestLog.ts'
import { fromCursor, invalidCursor, toCursor } from '../cursor.ts'
import { requireViewer } from '../handler.ts'
import type { Caller, ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { toRequestEntryView } from '../views/toRequestEntryView.ts'

/** How late another instance may write a request. */
const lateMs = 5_000

/** The routes of the request log. */
export const requestLogHandlers = ({
  storage,
  now,
}: ControlParts): Handlers<
  | 'GET /api/apps/{appId}/requests'
  | 'GET /api/apps/{appId}/requests/{logId}'
  | 'GET /api/keys/{keyId}/requests'
  | 'GET /api/keys/{keyId}/requests/{logId}'
> => {
  const findAppKey = async (caller: Caller, appId: string): Promise<string | undefined> =>
    (await storage.keys.findByApp({ appId, userId: requireViewer(caller).user.id }))?.id
  const findApiKey = async (caller: Caller, id: string): Promise<string | undefined> => {
    const key = await storage.keys.find({ id, userId: requireViewer(caller).user.id })
    return key?.appId === null ? key.id : undefined
  }

  const list = async (
    keyId: string | undefined,
    { cursor, after, limit = defaultPageLimit, ...filters }: RequestsQuery,
  ): Promise<HandlerResult<Page<RequestEntryView>>> => {
    if (keyId === undefined) return { error: apiErrors.notFound() }
    const [at, id] = (cursor === undefined ? [] : fromCursor(cursor, ['number', 'string'])) ?? []
    const before = typeof at === 'number' && typeof id === 'string' ? { at, id } : undefined
    if (cursor !== undefined && before === undefined) return { error: invalidCursor() }
    const found = await storage.requestLog.list({
      ...filters,
      keyId,
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
  const get = async (keyId: string | undefined, id: string): Promise<HandlerResult<RequestDetailsView>> => {
    const at = getLogTime(id)
    const request = keyId === undefined ? undefined : await storage.requestLog.find({ keyId, at, id })
    if (keyId === undefined || request === undefined) return { error: apiErrors.notFound() }
    const excerpts = await storage.requestLog.findExcerpts({ keyId, at, id, from: now() - excerptsMs })
    const { params = null, response = null } = excerpts ?? {}
    return { response: { ...toRequestEntryView(request), params, response } }
  }

  return {
    'GET /api/apps/{appId}/requests': async ({ params, query, caller }) =>
      list(await findAppKey(caller, params.appId), query),
    'GET /api/apps/{appId}/requests/{logId}': async ({ params, caller }) =>
      get(await findAppKey(caller, params.appId), params.logId),
    'GET /api/keys/{keyId}/requests': async ({ params, query, caller }) =>
      list(await findApiKey(caller, params.keyId), query),
    'GET /api/keys/{keyId}/requests/{logId}': async ({ params, caller }) =>
      get(await findApiKey(caller, params.keyId), params.logId),
  }
}
