import { narrowLimits, resolveLimits } from '../../auth/key/keyLimits.ts'
import type { Key } from '../../storage/keys.ts'
import { apiErrors } from '../apiErrors.ts'
import { activityHours, getActivityStart, toActivityView, toKeyTrafficView } from '../views/toActivityView.ts'
import { getKeyNetwork } from '../views/toApiKeyView.ts'
import { toCsvFileName } from '../views/csv.ts'
import type { CsvSubject } from '../views/csv.ts'
import { toMetricsCsv } from '../views/metricsCsv.ts'
import { readMetricsView } from '../views/readMetricsView.ts'
import type { MetricsSubject } from '../views/readMetricsView.ts'
import { readAccountUsage, toUsageView } from '../views/toUsageView.ts'
import { activityView, keyTrafficView } from '../contract/activity.ts'
import { metricsCsvQuery, metricsQuery, metricsView } from '../contract/metrics.ts'
import { csvText } from '../contract/texts.ts'
import { usageView } from '../contract/usage.ts'
import type { KeyTrafficView, MetricsCsvQuery, MetricsQuery, MetricsView } from '../contract/controlApi.d.ts'
import { requireAccount, requireAccountId, route } from '../route.ts'
import type { Caller, ControlParts, HandlerResult, Route } from '../route.ts'

/** The subject of metrics, and the facts that name its CSV file. */
interface MetricsTarget extends MetricsSubject {
  readonly file: CsvSubject
}

const toAccountTarget = (caller: Caller): MetricsTarget => {
  const { id, createdAt } = requireAccount(caller)
  return { subject: { userId: id }, createdAt, file: { id, name: 'account' } }
}

const findApp = async ({ storage }: ControlParts, caller: Caller, id: string): Promise<MetricsTarget | undefined> => {
  const app = await storage.apps.find({ id, userId: requireAccountId(caller) })
  return app === undefined ? undefined : { subject: { appId: app.id }, createdAt: app.createdAt, file: app }
}

const findKey = async ({ storage }: ControlParts, caller: Caller, id: string): Promise<MetricsTarget | undefined> => {
  const key = await storage.keys.find({ id, userId: requireAccountId(caller) })
  return key?.appId === null
    ? {
        subject: { keyId: key.id },
        createdAt: key.createdAt,
        file: { id, name: key.name, network: getKeyNetwork(key) },
      }
    : undefined
}

const toJson = async (
  parts: ControlParts,
  target: MetricsTarget | undefined,
  query: MetricsQuery,
): Promise<HandlerResult<MetricsView>> => {
  return target === undefined ? { error: apiErrors.notFound() } : readMetricsView(parts, target, query)
}

const toCsv = async (
  parts: ControlParts,
  target: MetricsTarget | undefined,
  { of = 'series', ...query }: MetricsCsvQuery,
): Promise<HandlerResult<string>> => {
  if (target === undefined) return { error: apiErrors.notFound() }
  const result = await readMetricsView(parts, target, query)
  if ('error' in result) return result
  const { response: metrics } = result
  return { response: toMetricsCsv(metrics, of), fileName: toCsvFileName(target.file, [of, metrics.range]) }
}

const toTraffic = async (
  { now, readTraffic }: ControlParts,
  key: Key | undefined,
): Promise<HandlerResult<KeyTrafficView>> => {
  if (key === undefined) return { error: apiErrors.notFound() }
  const from = getActivityStart(now())
  const traffic = await readTraffic({ keyId: key.id, rotatedAt: key.rotatedAt, from, hours: activityHours })
  return { response: toKeyTrafficView(traffic, { from, hasOld: key.oldUntil !== null && key.oldUntil > now() }) }
}

/** The routes of metrics and usage. */
export const metricsRoutes: readonly Route[] = [
  route(
    'GET /api/apps/{appId}/key/traffic',
    {
      summary:
        "Gets the requests of the last 24 hours and the last use of an app's key, and of its old key during a grace period.",
      access: 'read',
      isExpensive: true,
      response: keyTrafficView,
    },
    async ({ params, caller }, parts) =>
      toTraffic(parts, await parts.storage.keys.findByApp({ appId: params.appId, userId: requireAccountId(caller) })),
  ),

  route(
    'GET /api/keys/{keyId}/traffic',
    {
      summary:
        'Gets the requests of the last 24 hours and the last use of an API key, and of the old key during a grace period.',
      access: 'read',
      isExpensive: true,
      response: keyTrafficView,
    },
    async ({ params, caller }, parts) => {
      const { storage } = parts
      const key = await storage.keys.find({ id: params.keyId, userId: requireAccountId(caller) })
      return toTraffic(parts, key?.appId === null ? key : undefined)
    },
  ),

  route(
    'GET /api/apps/{appId}/metrics',
    {
      summary: "Gets an app's metrics.",
      access: 'read',
      isExpensive: true,
      query: metricsQuery,
      response: metricsView,
    },
    async ({ params, query, caller }, parts) => toJson(parts, await findApp(parts, caller, params.appId), query),
  ),

  route(
    'GET /api/apps/{appId}/metrics.csv',
    {
      summary: "Gets an app's metrics as CSV.",
      access: 'read',
      isExpensive: true,
      type: 'text/csv',
      query: metricsCsvQuery,
      response: csvText,
    },
    async ({ params, query, caller }, parts) => toCsv(parts, await findApp(parts, caller, params.appId), query),
  ),

  route(
    'GET /api/keys/{keyId}/metrics',
    {
      summary: "Gets an API key's metrics.",
      access: 'read',
      isExpensive: true,
      query: metricsQuery,
      response: metricsView,
    },
    async ({ params, query, caller }, parts) => toJson(parts, await findKey(parts, caller, params.keyId), query),
  ),

  route(
    'GET /api/keys/{keyId}/metrics.csv',
    {
      summary: "Gets an API key's metrics as CSV.",
      access: 'read',
      isExpensive: true,
      type: 'text/csv',
      query: metricsCsvQuery,
      response: csvText,
    },
    async ({ params, query, caller }, parts) => toCsv(parts, await findKey(parts, caller, params.keyId), query),
  ),

  route(
    'GET /api/metrics',
    {
      summary: 'Gets the metrics of the whole account.',
      access: 'read',
      isExpensive: true,
      query: metricsQuery,
      response: metricsView,
    },
    async ({ query, caller }, parts) => toJson(parts, toAccountTarget(caller), query),
  ),

  route(
    'GET /api/metrics.csv',
    {
      summary: 'Gets the metrics of the whole account as CSV.',
      access: 'read',
      isExpensive: true,
      type: 'text/csv',
      query: metricsCsvQuery,
      response: csvText,
    },
    async ({ query, caller }, parts) => toCsv(parts, toAccountTarget(caller), query),
  ),

  route(
    'GET /api/activity',
    {
      summary: 'Lists the apps and API keys with their requests of the last 24 hours and their last use.',
      access: 'read',
      isExpensive: true,
      response: activityView,
    },
    async ({ caller }, { now, readActivity, storage }) => {
      const userId = requireAccountId(caller)
      const from = getActivityStart(now())
      const [activity, apps, keys] = await Promise.all([
        readActivity({ userId, from, hours: activityHours }),
        storage.apps.list(userId),
        storage.keys.listApiKeys(userId),
      ])
      return { response: toActivityView(activity, { apps, keys, from }) }
    },
  ),

  route(
    'GET /api/usage',
    {
      summary: "Gets the usage of the account's API key limits.",
      description: 'Of all API keys of the account together.',
      access: 'read',
      response: usageView,
    },
    async ({ caller }, parts) => ({ response: await readAccountUsage(parts, requireAccount(caller)) }),
  ),

  route(
    'GET /api/apps/{appId}/usage',
    { summary: "Gets the usage of an app's limits.", access: 'read', response: usageView },
    async ({ params, caller }, { storage, usageLimits, config }) => {
      const app = await storage.apps.find({ id: params.appId, userId: requireAccountId(caller) })
      if (app === undefined) return { error: apiErrors.notFound() }
      const { limits } = requireAccount(caller)
      const response = await toUsageView(usageLimits, config(), {
        id: `app:${app.id}`,
        kind: 'app',
        resolve: (defaults) => narrowLimits(app.limits, resolveLimits([limits], defaults)),
        hasNetwork: (network) => app.networks.includes(network),
      })
      return { response }
    },
  ),
]
