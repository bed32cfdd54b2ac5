import type { Metrics, MetricsQuery } from '../../usage/metering/metrics.ts'
import type { MetricsRange, MetricsView } from '../contract/metrics.ts'
import { isoTime } from './times.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const spans: Readonly<Record<MetricsRange, { step: MetricsQuery['step']; stepMs: number; steps: number }>> = {
  hour: { step: 'minute', stepMs: minute, steps: 60 },
  day: { step: 'hour', stepMs: hour, steps: 24 },
  week: { step: 'hour', stepMs: hour, steps: 7 * 24 },
  month: { step: 'day', stepMs: day, steps: 30 },
  quarter: { step: 'day', stepMs: day, steps: 90 },
}

/** Gets the meter query for a range that ends now. The current step is included. */
export const getSpan = (range: MetricsRange, now: number): Omit<MetricsQuery, 'subject'> => {
  const { step, stepMs, steps } = spans[range]
  const end = Math.floor(now / stepMs) * stepMs + stepMs
  return { from: end - steps * stepMs, to: end, step }
}

/** Converts metrics to their API form. */
export const toMetricsView = (
  metrics: Metrics,
  { range, span }: { range: MetricsRange; span: Omit<MetricsQuery, 'subject'> },
): MetricsView => ({
  range,
  from: isoTime(span.from),
  to: isoTime(span.to),
  step: span.step,
  total: metrics.total,
  succeeded: metrics.succeeded,
  successRate: metrics.successRate,
  latencyMs: metrics.latencyMs,
  connections: metrics.connections,
  notifications: metrics.notifications,
  series: metrics.series.map(({ at, ...point }) => ({ ...point, at: isoTime(at) })),
  byMethod: metrics.byMethod,
  byOutcome: metrics.byOutcome,
  byNetwork: metrics.byNetwork,
})
