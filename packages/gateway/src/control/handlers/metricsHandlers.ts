import { narrowLimits, resolveLimits } from '../../auth/key/keyLimits.ts'
import type { MetricsQuery as Asked } from '../../usage/metering/metrics.ts'
import type { MetricsCsvQuery, MetricsQuery, MetricsView } from '../contract/metrics.ts'
import { apiErrors } from '../apiErrors.ts'
import { viewerOf } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import type { Reply } from '../reply.ts'
import { networkOf } from '../views/toApiKeyView.ts'
import { csvFileName } from '../views/csvFileName.ts'
import { metricsCsv } from '../views/metricsCsv.ts'
import { toMetricsView, spanOf } from '../views/toMetricsView.ts'
import { toUsageView } from '../views/toUsageView.ts'
import { appLimitsOf } from './showApp.ts'

type Subject = Asked['subject']

/** Whose metrics, and what their files are named by. */
interface Metered {
  readonly subject: Subject
  readonly named: Parameters<typeof csvFileName>[0]
}

/** Metrics and usage. */
export const metricsHandlers = ({
  storage,
  quota,
  readMetrics,
  config,
  now,
}: ControlParts): Handlers<
  | 'GET /api/apps/{appId}/metrics'
  | 'GET /api/apps/{appId}/metrics.csv'
  | 'GET /api/apps/{appId}/usage'
  | 'GET /api/keys/{keyId}/metrics'
  | 'GET /api/keys/{keyId}/metrics.csv'
  | 'GET /api/metrics'
  | 'GET /api/metrics.csv'
  | 'GET /api/usage'
> => {
  const ofAccount = (caller: Caller): Metered => {
    const { id } = viewerOf(caller).user
    return { subject: { userId: id }, named: { id, name: 'account' } }
  }
  const ofApp = async (caller: Caller, id: string): Promise<Metered | undefined> => {
    const app = await storage.apps.find({ id, userId: viewerOf(caller).user.id })
    return app === undefined ? undefined : { subject: { appId: app.id }, named: app }
  }
  const ofKey = async (caller: Caller, id: string): Promise<Metered | undefined> => {
    const key = await storage.keys.find({ id, userId: viewerOf(caller).user.id })
    return key?.appId === null
      ? { subject: { keyId: key.id }, named: { id, name: key.name, network: networkOf(key) } }
      : undefined
  }

  const read = async ({ subject }: Metered, { range = 'day' }: MetricsQuery): Promise<MetricsView> => {
    const span = spanOf(range, now())
    return toMetricsView(await readMetrics({ subject, ...span }), { range, span })
  }
  const show = async (metered: Metered | undefined, query: MetricsQuery): Promise<Reply<MetricsView>> =>
    metered === undefined ? { rejection: apiErrors.notFound() } : { answer: await read(metered, query) }
  const save = async (
    metered: Metered | undefined,
    { range = 'day', of = 'series' }: MetricsCsvQuery,
  ): Promise<Reply<string>> =>
    metered === undefined
      ? { rejection: apiErrors.notFound() }
      : { answer: metricsCsv(await read(metered, { range }), of), fileName: csvFileName(metered.named, { range, of }) }

  return {
    'GET /api/apps/{appId}/metrics': async ({ params, query, caller }) =>
      show(await ofApp(caller, params.appId), query),
    'GET /api/apps/{appId}/metrics.csv': async ({ params, query, caller }) =>
      save(await ofApp(caller, params.appId), query),
    'GET /api/keys/{keyId}/metrics': async ({ params, query, caller }) =>
      show(await ofKey(caller, params.keyId), query),
    'GET /api/keys/{keyId}/metrics.csv': async ({ params, query, caller }) =>
      save(await ofKey(caller, params.keyId), query),
    'GET /api/metrics': async ({ query, caller }) => show(ofAccount(caller), query),
    'GET /api/metrics.csv': async ({ query, caller }) => save(ofAccount(caller), query),

    'GET /api/usage': async ({ caller }) => {
      const { id, limits } = viewerOf(caller).user
      const { quotaOwner = id } = (await storage.users.find(id)) ?? {}
      const inForce = resolveLimits([limits], config().limits.apiKey)
      return { answer: await toUsageView(quota, { id: `user:${quotaOwner}`, limits: inForce }) }
    },
    'GET /api/apps/{appId}/usage': async ({ params, caller }) => {
      const app = await storage.apps.find({ id: params.appId, userId: viewerOf(caller).user.id })
      if (app === undefined) return { rejection: apiErrors.notFound() }
      const limits = narrowLimits(app.limits, appLimitsOf(config, caller))
      return { answer: await toUsageView(quota, { id: `app:${app.id}`, limits }) }
    },
  }
}
