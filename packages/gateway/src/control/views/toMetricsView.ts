import { defaultRetention } from '../../usage/metering/usagePlan.ts'
import type { Metrics, MetricsQuery } from '../../usage/metering/metrics.ts'
import type { MetricsRange, MetricsView } from '../contract/controlApi.d.ts'
import type { FieldProblem } from '../apiErrors.ts'
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

const hoursAtMost = 8 * 24
const minutesAtMost = 6 * 60
const maxDays = 731

/**
 * Gets the meter query for a range of its own.
 * @param options.now - Milliseconds since 1970.
 * @returns What is wrong with the range, if it cannot be queried.
 */
export const getCustomSpan = (
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  now: number,
): Omit<MetricsQuery, 'subject'> | { readonly problem: FieldProblem } => {
  if (from === undefined || to === undefined)
    return { problem: { field: from === undefined ? 'from' : 'to', fix: 'is required: a range has both ends' } }
  const [start, end] = [Date.parse(from), Date.parse(to)]
  if (start > now) return { problem: { field: 'from', fix: 'must be in the past' } }
  if (end <= start) return { problem: { field: 'to', fix: 'must be after from' } }
  if (end - start > maxDays * day) return { problem: { field: 'to', fix: 'must be at most 2 years after from' } }
  const age = now - start
  const step =
    end - start <= minutesAtMost * minute && age < defaultRetention.minutesMs
      ? 'minute'
      : end - start <= hoursAtMost * hour && age < defaultRetention.hoursMs
        ? 'hour'
        : 'day'
  const stepMs = { minute, hour, day }[step]
  return { from: Math.floor(start / stepMs) * stepMs, to: Math.ceil(end / stepMs) * stepMs, step }
}

/**
 * Converts metrics to their API form.
 * @param options.createdAt - Of the subject, in milliseconds since 1970.
 */
export const toMetricsView = (
  metrics: Metrics,
  { range, span, createdAt }: { range: MetricsView['range']; span: Omit<MetricsQuery, 'subject'>; createdAt: number },
): MetricsView => ({
  range,
  from: isoTime(span.from),
  to: isoTime(span.to),
  step: span.step,
  total: metrics.total,
  succeeded: metrics.succeeded,
  reverted: metrics.reverted,
  stored: metrics.stored,
  charged: metrics.charged,
  countedFrom: isoTime(Math.max(createdAt, metrics.storedFrom)),
  successRate: metrics.successRate,
  latencyMs: metrics.latencyMs,
  connections: metrics.connections,
  notifications: metrics.notifications,
  series: metrics.series.map(({ at, ...point }) => ({ ...point, at: isoTime(at) })),
  byMethod: metrics.byMethod,
  byOutcome: metrics.byOutcome,
  byNetwork: metrics.byNetwork,
})
