import type * as PromClient from 'prom-client'
import type { Durations } from '../lib/createDurations.ts'
import { createMetricCounts } from './createMetricCounts.ts'
import type { MetricCounts } from './createMetricCounts.ts'
import { createMetricsServer } from './createMetricsServer.ts'
import type { MetricsServer } from './createMetricsServer.ts'
import type { GaugeSources, Metric, MetricSources } from './metric.ts'
import { metrics } from './metrics.ts'

/** The metrics of a service, served to Prometheus on their own port. */
export interface Prometheus extends MetricsServer, Pick<MetricCounts, 'observe' | 'countCalls'> {
  /** All metrics in the text exposition format. */
  readonly text: () => Promise<string>
}

/** Creates the metrics of a service, which are read at each scrape. */
export const createPrometheus = async (gauges: GaugeSources): Promise<Prometheus> => {
  // Imported lazily: most deployments have no metrics endpoint.
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  const counts = createMetricCounts()
  const sources: MetricSources = { ...gauges, counts }
  for (const metric of metrics) registry.registerMetric(toPromMetric(metric, sources))
  collectDefaultMetrics({ register: registry })
  const text = (): Promise<string> => registry.metrics()
  return { observe: counts.observe, countCalls: counts.countCalls, text, ...createMetricsServer(text) }
}

/** One value of a metric, as prom-client prints it. */
interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** The name of a histogram's buckets, sum or count. @default the metric's */
  readonly metricName?: string
}

/** Creates a metric for prom-client, whose own counters and histograms cannot be set to what was counted elsewhere. */
const toPromMetric = (metric: Metric, sources: MetricSources): PromClient.Metric => {
  const { name, help, type } = metric
  const get = async (): Promise<object> => ({ name, help, type, values: readSamples(metric, sources) })
  return { name, get } as unknown as PromClient.Metric
}

const readSamples = (metric: Metric, sources: MetricSources): readonly Sample[] => {
  const toLabels = (values: readonly string[]): Sample['labels'] =>
    Object.fromEntries(values.map((value, index) => [metric.labels?.[index] ?? '', value]))
  return metric.type === 'histogram'
    ? metric.read(sources).flatMap(([durations, ...values]) => toHistogramSamples(metric, durations, toLabels(values)))
    : metric.read(sources).map(([value, ...values]) => ({ labels: toLabels(values), value }))
}

const toHistogramSamples = (
  { name, bounds }: Extract<Metric, { readonly type: 'histogram' }>,
  { counts, sum }: Durations,
  labels: Sample['labels'],
): readonly Sample[] => {
  let count = 0
  const buckets = counts.map((counted, index): Sample => {
    count += counted
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
