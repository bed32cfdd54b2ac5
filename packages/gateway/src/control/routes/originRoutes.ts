import { compileAllowList } from '../../auth/allowList/compileAllowList.ts'
import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import { dayMs } from '../../lib/time.ts'
import { apiErrors } from '../apiErrors.ts'
import { normalizeAllowValue } from '../normalizeAllowValue.ts'
import { getSpan } from '../views/toMetricsView.ts'
import { allowListPreviewQuery, allowListPreviewView, originsView } from '../contract/allowEntry.ts'
import type { AllowListPreviewView, OriginsView } from '../contract/controlApi.d.ts'
import { requireAccountId, route } from '../route.ts'
import type { ControlParts, HandlerResult, Route } from '../route.ts'

const maxItems = 20
const maxExamples = 5

/** Requests by origin or method, the most frequent first. */
interface Count<Name> {
  readonly name: Name
  readonly requests: number
}

const addUp = (counts: readonly Count<unknown>[]): number => counts.reduce((sum, { requests }) => sum + requests, 0)

const toPreview = <Name extends string | null>(
  source: AllowListPreviewView['source'],
  counts: readonly Count<Name>[],
  isRejected: (name: Name) => boolean,
): AllowListPreviewView => {
  const rejected = counts.filter(({ name }) => isRejected(name))
  return {
    source,
    requests: addUp(counts),
    rejected: addUp(rejected),
    examples: rejected.slice(0, maxExamples).map(({ name }) => name),
  }
}

const rejectsOrigin = (list: AllowList, origin: string | null): boolean =>
  list.rejectRequest({ origin: origin ?? undefined, ip: undefined, userAgent: undefined }) !== undefined

const rejectsMethod = (list: AllowList, method: string): boolean =>
  list.rejectCall({ method, params: undefined }) !== undefined

const countOrigins = async (
  { storage, now }: ControlParts,
  keyId: string,
): Promise<readonly Count<string | null>[]> => {
  const found = await storage.requestLog.countOrigins({ keyId, from: now() - dayMs })
  return found.map(({ origin, requests }) => ({ name: origin, requests }))
}

const toOrigins = async (
  parts: ControlParts,
  keyId: string,
  isLimited: boolean,
): Promise<HandlerResult<OriginsView>> => {
  const items = (await countOrigins(parts, keyId)).flatMap(({ name, requests }) =>
    name === null ? [] : [{ origin: name, requests }],
  )
  return { response: { isLimited, items: items.slice(0, maxItems) } }
}

/** The routes about the origins of requests, and about what an allow list would reject. */
export const originRoutes: readonly Route[] = [
  route(
    'GET /api/apps/{appId}/allow-list/preview',
    {
      summary: 'Gets how many requests of the last 24 hours an allow list would reject with one more entry.',
      access: 'read',
      isExpensive: true,
      query: allowListPreviewQuery,
      response: allowListPreviewView,
    },
    async ({ params: { appId }, query: { type, value }, caller }, parts) => {
      const { storage, readMetrics, now, config } = parts
      const userId = requireAccountId(caller)
      const key = await storage.keys.findByApp({ appId, userId })
      if (key === undefined) return { error: apiErrors.notFound() }
      const parsed = normalizeAllowValue(type, value)
      if ('fix' in parsed) return { error: apiErrors.invalid([{ field: 'value', fix: parsed.fix }]) }
      const entries = (await storage.allowList.list({ appId, userId })).filter((entry) => entry.type === type)
      const rules = [...entries, { value: parsed.rule }].map((entry) => ({ value: entry.value }))
      if (type === 'method') {
        const list = compileAllowList({ methods: rules })
        const { byMethod } = await readMetrics({ subject: { appId }, ...getSpan('day', now()) })
        // Those that failed may have been rejected.
        const counts = byMethod.map(({ method, succeeded, reverted }) => ({
          name: method,
          requests: succeeded + reverted,
        }))
        return {
          response: toPreview(
            'metrics',
            counts.filter(({ requests }) => requests > 0),
            (method) => rejectsMethod(list, method),
          ),
        }
      }
      if (config().recordsRequests === false) return { response: toPreview('none', [], () => false) }
      const list = compileAllowList({ origins: rules })
      return {
        response: toPreview('requestLog', await countOrigins(parts, key.id), (origin) => rejectsOrigin(list, origin)),
      }
    },
  ),

  route(
    'GET /api/apps/{appId}/origins',
    {
      summary: "Gets the websites that sent requests with an app's key in the last 24 hours.",
      access: 'read',
      isExpensive: true,
      response: originsView,
    },
    async ({ params: { appId }, caller }, parts) => {
      const { storage } = parts
      const userId = requireAccountId(caller)
      const key = await storage.keys.findByApp({ appId, userId })
      if (key === undefined) return { error: apiErrors.notFound() }
      const entries = await storage.allowList.list({ appId, userId })
      return toOrigins(
        parts,
        key.id,
        entries.some(({ type }) => type === 'origin'),
      )
    },
  ),

  route(
    'GET /api/keys/{keyId}/origins',
    {
      summary: 'Gets the websites that sent requests with an API key in the last 24 hours.',
      access: 'read',
      isExpensive: true,
      response: originsView,
    },
    async ({ params, caller }, parts) => {
      const { storage } = parts
      const key = await storage.keys.find({ id: params.keyId, userId: requireAccountId(caller) })
      return key?.appId === null ? toOrigins(parts, key.id, false) : { error: apiErrors.notFound() }
    },
  ),
]
