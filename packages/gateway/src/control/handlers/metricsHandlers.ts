import { narrowLimits, resolveLimits } from '../../auth/key/keyLimits.ts'
import type { MetricsQuery as Asked } from '../../usage/metering/metrics.ts'
import type { Key } from '../../storage/keys.ts'
import type { KeyTrafficView } from '../contract/activity.ts'
import type { MetricsCsvQuery, MetricsQuery, MetricsView } from '../contract/metrics.ts'
import { apiErrors } from '../apiErrors.ts'
import type { ApiError } from '../apiErrors.ts'
import { requireViewer } from '../handler.ts'
import type { Caller, ControlParts, HandlerResult, Handlers } from '../handler.ts'
import { activityHours, getActivityStart, toActivityView, toKeyTrafficView } from '../views/toActivityView.ts'
import { getKeyNetwork } from '../views/toApiKeyView.ts'
import { toCsvFileName } from '../views/csv.ts'
import type { CsvSubject } from '../views/csv.ts'
import { toMetricsCsv } from '../views/metricsCsv.ts'
import { getCustomSpan, getSpan, toMetricsView } from '../views/toMetricsView.ts'
import { toUsageView } from '../views/toUsageView.ts'

type Subject = Asked['subject']

/** The subject of metrics, and the facts that name its CSV file. */
interface MetricsTarget {
  readonly subject: Subject
  readonly file: CsvSubject
}

/** The routes of metrics and usage. */
export const metricsHandlers = ({
  storage,
  usageLimits,
  readMetrics,
  readActivity,
  readTraffic,
  config,
  now,
}: ControlParts): Handlers<
  | 'GET /api/apps/{appId}/metrics'
  | 'GET /api/apps/{appId}/metrics.csv'
  | 'GET /api/apps/{appId}/usage'
  | 'GET /api/apps/{appId}/key/traffic'
  | 'GET /api/keys/{keyId}/traffic'
  | 'GET /api/keys/{keyId}/metrics'
  | 'GET /api/keys/{keyId}/metrics.csv'
  | 'GET /api/metrics'
  | 'GET /api/metrics.csv'
  | 'GET /api/activity'
  | 'GET /api/usage'
> => {
  const toAccountTarget = (caller: Caller): MetricsTarget => {
    const { id } = requireViewer(caller).user
    return { subject: { userId: id }, file: { id, name: 'account' } }
  }
  const findApp = async (caller: Caller, id: string): Promise<MetricsTarget | undefined> => {
    const app = await storage.apps.find({ id, userId: requireViewer(caller).user.id })
    return app === undefined ? undefined : { subject: { appId: app.id }, file: app }
  }
  const findKey = async (caller: Caller, id: string): Promise<MetricsTarget | undefined> => {
    const key = await storage.keys.find({ id, userId: requireViewer(caller).user.id })
    return key?.appId === null
      ? { subject: { keyId: key.id }, file: { id, name: key.name, network: getKeyNetwork(key) } }
      : undefined
  }

  const read = async (
    { subject }: MetricsTarget,
    { range = 'day', from, to, method, outcome, network }: MetricsQuery,
  ): Promise<{ metrics: MetricsView } | { error: ApiError }> => {
    const isCustom = from !== undefined || to !== undefined
    const span = isCustom ? getCustomSpan({ from, to }, now()) : getSpan(range, now())
    if ('problem' in span) return { error: apiErrors.invalid([span.problem]) }
    const metrics = await readMetrics({ subject, ...span, filter: { method, outcome, network } })
    return { metrics: toMetricsView(metrics, { range: isCustom ? 'custom' : range, span }) }
  }
  const toJson = async (
    target: MetricsTarget | undefined,
    query: MetricsQuery,
  ): Promise<HandlerResult<MetricsView>> => {
    if (target === undefined) return { error: apiErrors.notFound() }
    const result = await read(target, query)
    return 'error' in result ? result : { response: result.metrics }
  }
  const toCsv = async (
    target: MetricsTarget | undefined,
    { of = 'series', ...query }: MetricsCsvQuery,
  ): Promise<HandlerResult<string>> => {
    if (target === undefined) return { error: apiErrors.notFound() }
    const result = await read(target, query)
    if ('error' in result) return result
    const { metrics } = result
    return { response: toMetricsCsv(metrics, of), fileName: toCsvFileName(target.file, [of, metrics.range]) }
  }

  const toTraffic = async (key: Key | undefined): Promise<HandlerResult<KeyTrafficView>> => {
    if (key === undefined) return { error: apiErrors.notFound() }
    const from = getActivityStart(now())
    const traffic = await readTraffic({ keyId: key.id, rotatedAt: key.rotatedAt, from, hours: activityHours })
    return { response: toKeyTrafficView(traffic, { from, hasOld: key.oldUntil !== null && key.oldUntil > now() }) }
  }

  return {
    'GET /api/apps/{appId}/key/traffic': async ({ params, caller }) =>
      toTraffic(await storage.keys.findByApp({ appId: params.appId, userId: requireViewer(caller).user.id })),
    'GET /api/keys/{keyId}/traffic': async ({ params, caller }) => {
      const key = await storage.keys.find({ id: params.keyId, userId: requireViewer(caller).user.id })
      return toTraffic(key?.appId === null ? key : undefined)
    },
    'GET /api/apps/{appId}/metrics': async ({ params, query, caller }) =>
      toJson(await findApp(caller, params.appId), query),
    'GET /api/apps/{appId}/metrics.csv': async ({ params, query, caller }) =>
      toCsv(await findApp(caller, params.appId), query),
    'GET /api/keys/{keyId}/metrics': async ({ params, query, caller }) =>
      toJson(await findKey(caller, params.keyId), query),
    'GET /api/keys/{keyId}/metrics.csv': async ({ params, query, caller }) =>
      toCsv(await findKey(caller, params.keyId), query),
    'GET /api/metrics': async ({ query, caller }) => toJson(toAccountTarget(caller), query),
    'GET /api/metrics.csv': async ({ query, caller }) => toCsv(toAccountTarget(caller), query),

    'GET /api/activity': async ({ caller }) => {
      const { id: userId } = requireViewer(caller).user
      const from = getActivityStart(now())
      const [activity, apps, keys] = await Promise.all([
        readActivity({ userId, from, hours: activityHours }),
        storage.apps.list(userId),
        storage.keys.listApiKeys(userId),
      ])
      return { response: toActivityView(activity, { apps, keys, from }) }
    },
    'GET /api/usage': async ({ caller }) => {
      const { id, limits } = requireViewer(caller).user
      const { quotaOwner = id } = (await storage.users.find(id)) ?? {}
      const response = await toUsageView(usageLimits, config(), {
        id: `user:${quotaOwner}`,
        kind: 'apiKey',
        resolve: (defaults) => resolveLimits([limits], defaults),
        hasNetwork: () => true,
      })
      return { response }
    },
    'GET /api/apps/{appId}/usage': async ({ params, caller }) => {
      const app = await storage.apps.find({ id: params.appId, userId: requireViewer(caller).user.id })
      if (app === undefined) return { error: apiErrors.notFound() }
      const { limits } = requireViewer(caller).user
      const response = await toUsageView(usageLimits, config(), {
        id: `app:${app.id}`,
        kind: 'app',
        resolve: (defaults) => narrowLimits(app.limits, resolveLimits([limits], defaults)),
        hasNetwork: (network) => app.networks.includes(network),
      })
      return { response }
    },
  }
}
