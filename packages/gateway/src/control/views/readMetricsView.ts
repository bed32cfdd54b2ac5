import type { MetricsQuery as Asked } from '../../usage/metering/metrics.ts'
import { apiErrors } from '../apiErrors.ts'
import type { ApiError } from '../apiErrors.ts'
import type { MetricsQuery, MetricsView } from '../contract/controlApi.d.ts'
import type { ControlParts } from '../route.ts'
import { getCustomSpan, getSpan, toMetricsView } from './toMetricsView.ts'

/** The subject of metrics, and when it was created, in milliseconds since 1970. */
export interface MetricsSubject {
  readonly subject: Asked['subject']
  readonly createdAt: number
}

/** Reads the metrics of an app, a key or an account. */
export const readMetricsView = async (
  { now, readMetrics }: Pick<ControlParts, 'now' | 'readMetrics'>,
  { subject, createdAt }: MetricsSubject,
  { range = 'day', from, to, method, outcome, network }: MetricsQuery,
): Promise<{ response: MetricsView } | { error: ApiError }> => {
  const isCustom = from !== undefined || to !== undefined
  const span = isCustom ? getCustomSpan({ from, to }, now()) : getSpan(range, now())
  if ('problem' in span) return { error: apiErrors.invalid([span.problem]) }
  const metrics = await readMetrics({ subject, ...span, filter: { method, outcome, network } })
  return { response: toMetricsView(metrics, { range: isCustom ? 'custom' : range, span, createdAt }) }
}
