import type { MetricValues } from '../prometheus.ts'

/** The metrics of several workers as one. */
export interface AddedMetrics {
  readonly json: readonly MetricValues[]
  /** In the text exposition format. */
  readonly text: string
}

/**
 * Adds the metrics of several workers: counters and histograms are summed, gauges by their aggregator.
 * @param workers - The metrics of each worker.
 */
export const addMetrics = async (workers: readonly (readonly MetricValues[])[]): Promise<AddedMetrics> => {
  // Imported lazily: most deployments have no metrics endpoint.
  const { AggregatorRegistry } = await import('prom-client')
  const registry = AggregatorRegistry.aggregate([...workers] as object[])
  return { json: await registry.getMetricsAsJSON(), text: await registry.metrics() }
}

/**
 * Returns what remains of the metrics of a worker that has ended: counters and histograms, because Prometheus takes a counter that falls for a
 * restart, and would count everything again.
 */
export const toRemaining = (metrics: readonly MetricValues[]): readonly MetricValues[] =>
  // The type of a metric is a text, whatever the declaration of the library is.
  metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
