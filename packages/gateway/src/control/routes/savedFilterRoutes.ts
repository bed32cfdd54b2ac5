import { savedFiltersView, setSavedFiltersBody } from '../contract/savedFilters.ts'
import type { SavedFilter } from '../contract/controlApi.d.ts'
import { apiErrors } from '../apiErrors.ts'
import { requireViewer, route } from '../route.ts'
import type { Caller, ControlParts, HandlerResult, Route } from '../route.ts'
import { findAppLog, findKeyLog } from './findLog.ts'
import type { LogTarget } from './findLog.ts'

type Result = HandlerResult<{ readonly items: readonly SavedFilter[] }>

const list = async ({ storage }: ControlParts, caller: Caller, target: LogTarget | undefined): Promise<Result> => {
  if (target === undefined) return { error: apiErrors.notFound() }
  const { keyId } = target
  return { response: { items: await storage.savedFilters.list({ keyId, userId: requireViewer(caller).user.id }) } }
}

/** Not in the audit log: it changes only what the user sees. */
const set = async (
  { storage }: ControlParts,
  caller: Caller,
  { target, items }: { target: LogTarget | undefined; items: readonly SavedFilter[] },
): Promise<Result> => {
  if (target === undefined) return { error: apiErrors.notFound() }
  await storage.savedFilters.set({ keyId: target.keyId, userId: requireViewer(caller).user.id, items })
  return { response: { items } }
}

/** The routes of the filters that users have saved for request logs. */
export const savedFilterRoutes: readonly Route[] = [
  route(
    'GET /api/apps/{appId}/saved-filters',
    {
      summary: "Lists the filters that the user has saved for an app's request log.",
      access: 'own',
      response: savedFiltersView,
    },
    async ({ params, caller }, parts) => list(parts, caller, await findAppLog(parts, caller, params.appId)),
  ),

  route(
    'PUT /api/apps/{appId}/saved-filters',
    {
      summary: "Replaces the filters that the user has saved for an app's request log.",
      access: 'own',
      body: setSavedFiltersBody,
      response: savedFiltersView,
    },
    async ({ params, body, caller }, parts) =>
      set(parts, caller, { ...body, target: await findAppLog(parts, caller, params.appId) }),
  ),

  route(
    'GET /api/keys/{keyId}/saved-filters',
    {
      summary: "Lists the filters that the user has saved for an API key's request log.",
      access: 'own',
      response: savedFiltersView,
    },
    async ({ params, caller }, parts) => list(parts, caller, await findKeyLog(parts, caller, params.keyId)),
  ),

  route(
    'PUT /api/keys/{keyId}/saved-filters',
    {
      summary: "Replaces the filters that the user has saved for an API key's request log.",
      access: 'own',
      body: setSavedFiltersBody,
      response: savedFiltersView,
    },
    async ({ params, body, caller }, parts) =>
      set(parts, caller, { ...body, target: await findKeyLog(parts, caller, params.keyId) }),
  ),
]
