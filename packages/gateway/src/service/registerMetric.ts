import type * as PromClient from 'prom-client'
import { durationBounds } from '../lib/createDurations.ts'
import type { Durations } from '../lib/createDurations.ts'

/** One value of a metric. */
export interface Sample {
  /** @default none */
  readonly labels?: Readonly<Record<string, string | number>>
  readonly value: number
  /** The name in the exposition, for a histogram's buckets, sum and count. @default the metric's */
  readonly metricName?: string
}

/** A metric whose values are counted elsewhere. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Called at each scrape. */
  readonly samples: () => readonly Sample[]
}

/** Registers a metric whose values are read at each scrape: prom-client's own counters and histograms cannot be set to what was counted elsewhere. */
export const registerMetric = (
  registers: readonly PromClient.Registry[],
  { name, help, type, samples }: Metric,
): void => {
  const get = async (): Promise<object> => ({
    name,
    help,
    type,
    values: samples().map((sample) => ({ labels: {}, ...sample })),
  })
  for (const registry of registers) registry.registerMetric({ name, get } as unknown as PromClient.Metric)
}

/**
 * Gets the samples of a histogram.
 * @param name - Of the metric.
 * @param bounds - With which the durations were counted. @default durationBounds
 */
export const toHistogramSamples = (
  name: string,
  { counts, sum }: Durations,
  { labels = {}, bounds = durationBounds }: { labels?: Sample['labels']; bounds?: readonly number[] } = {},
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
