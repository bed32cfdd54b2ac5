import { limitsInForce } from '../../key/keyLimits.ts'
import { narrowLimits } from '../../key/narrowLimits.ts'
import type { MetricsQuery as Asked } from '../../meter/metrics.ts'
import type { MetricsCsvQuery, MetricsQuery, MetricsView } from '../contract/metrics.ts'
import { controlRefusals } from '../controlRefusals.ts'
import { viewerOf } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import { metricsCsv } from '../views/metricsCsv.ts'
import { metricsViewOf, spanOf } from '../views/metricsViewOf.ts'
import { usageViewOf } from '../views/usageViewOf.ts'
import { appLimitsOf } from './showApp.ts'

type Subject = Asked['subject']

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
  const ofAccount = (caller: Caller): Subject => ({ userId: viewerOf(caller).user.id })
  const ofApp = async (caller: Caller, id: string): Promise<Subject | undefined> => {
    const app = await storage.apps.find({ id, userId: viewerOf(caller).user.id })
    return app === undefined ? undefined : { appId: app.id }
  }
  const ofKey = async (caller: Caller, id: string): Promise<Subject | undefined> => {
    const key = await storage.keys.find({ id, userId: viewerOf(caller).user.id })
    return key?.appId === null ? { keyId: key.id } : undefined
  }

  const read = async (subject: Subject, { range = 'day' }: MetricsQuery): Promise<MetricsView> => {
    const span = spanOf(range, now())
    return metricsViewOf(await readMetrics({ subject, ...span }), { range, span })
  }
  const readCsv = async (subject: Subject, query: MetricsCsvQuery): Promise<string> =>
    metricsCsv(await read(subject, query), query.of ?? 'series')
  const found = async <Answer>(
    subject: Promise<Subject | undefined>,
    answer: (subject: Subject) => Promise<Answer>,
  ) => {
    const of = await subject
    return of === undefined ? { refusal: controlRefusals.notFound() } : { answer: await answer(of) }
  }

  return {
    'GET /api/apps/{appId}/metrics': ({ params, query, caller }) =>
      found(ofApp(caller, params.appId), (subject) => read(subject, query)),
    'GET /api/apps/{appId}/metrics.csv': ({ params, query, caller }) =>
      found(ofApp(caller, params.appId), (subject) => readCsv(subject, query)),
    'GET /api/keys/{keyId}/metrics': ({ params, query, caller }) =>
      found(ofKey(caller, params.keyId), (subject) => read(subject, query)),
    'GET /api/keys/{keyId}/metrics.csv': ({ params, query, caller }) =>
      found(ofKey(caller, params.keyId), (subject) => readCsv(subject, query)),
    'GET /api/metrics': async ({ query, caller }) => ({ answer: await read(ofAccount(caller), query) }),
    'GET /api/metrics.csv': async ({ query, caller }) => ({ answer: await readCsv(ofAccount(caller), query) }),

    'GET /api/usage': async ({ caller }) => {
      const { id, limits } = viewerOf(caller).user
      const inForce = limitsInForce([limits], config().limits.apiKey)
      return { answer: await usageViewOf(quota, { id: `user:${id}`, limits: inForce }) }
    },
    'GET /api/apps/{appId}/usage': async ({ params, caller }) => {
      const app = await storage.apps.find({ id: params.appId, userId: viewerOf(caller).user.id })
      if (app === undefined) return { refusal: controlRefusals.notFound() }
      const limits = narrowLimits(app.limits, appLimitsOf(config, caller))
      return { answer: await usageViewOf(quota, { id: `app:${app.id}`, limits }) }
    },
  }
}
