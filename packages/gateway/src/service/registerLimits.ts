import type * as PromClient from 'prom-client'
import { limitWaitBounds } from '../usage/limits/countDecisions.ts'
import type { LimitCounts } from '../usage/limits/countDecisions.ts'
import { registerMetric, toHistogramSamples } from './registerMetric.ts'

/** Registers the metrics of rates and quotas, which are read at each scrape. */
export const registerLimits = (read: () => LimitCounts, registers: readonly PromClient.Registry[]): void => {
  registerMetric(registers, {
    name: 'keyrail_limit_decisions_total',
    help: 'Calls by decision of the limits: granted, rejected by the rate or by the quota of the day or month, or unavailable.',
    type: 'counter',
    samples: () => Object.entries(read().decisions).map(([result, value]) => ({ labels: { result }, value })),
  })
  const wait = 'keyrail_limit_wait_seconds'
  registerMetric(registers, {
    name: wait,
    help: 'How long requests waited for Redis or the database to decide on their limits. Those decided in memory are not counted.',
    type: 'histogram',
    samples: () => toHistogramSamples(wait, read().waits, { bounds: limitWaitBounds }),
  })
  registerMetric(registers, {
    name: 'keyrail_limit_waiting_requests',
    help: 'Requests that wait for Redis or the database to decide on their limits.',
    type: 'gauge',
    samples: () => [{ value: read().waiting }],
  })
}
