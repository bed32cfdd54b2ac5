import type * as PromClient from 'prom-client'
import { registerMetric } from './registerMetric.ts'

/**
 * Registers the metrics of config reloads.
 * @param now - Milliseconds since 1970.
 * @returns Counts a reload.
 */
export const registerConfig = (
  now: () => number,
  registers: readonly PromClient.Registry[],
): ((result: 'applied' | 'rejected') => void) => {
  const counts = { applied: 0, rejected: 0 }
  let isApplied = true
  let appliedAt = now()
  registerMetric(registers, {
    name: 'keyrail_config_reloads_total',
    help: 'Config reloads, by result.',
    type: 'counter',
    samples: () => Object.entries(counts).map(([result, value]) => ({ labels: { result }, value })),
  })
  registerMetric(registers, {
    name: 'keyrail_config_last_reload_successful',
    help: 'Whether the last config was applied: 1 if so, 0 if it was rejected and the one before is in use.',
    type: 'gauge',
    samples: () => [{ value: isApplied ? 1 : 0 }],
  })
  registerMetric(registers, {
    name: 'keyrail_config_last_reload_success_timestamp_seconds',
    help: 'When the config in use was applied: at the start, or at the last reload that succeeded.',
    type: 'gauge',
    samples: () => [{ value: appliedAt / 1_000 }],
  })
  return (result) => {
    counts[result] += 1
    isApplied = result === 'applied'
    if (isApplied) appliedAt = now()
  }
}
