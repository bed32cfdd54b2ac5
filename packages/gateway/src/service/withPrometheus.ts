import type { Network } from '../lib/network.ts'
import { getDefaultWeight } from '../proxy/method/weights.ts'
import type { MethodWeights } from '../proxy/method/weights.ts'
import type { Meter } from '../usage/metering/meter.ts'
import type { Prometheus } from './prometheus.ts'

/** Creates a meter that also counts for Prometheus. */
export const withPrometheus = (
  meter: Meter,
  prometheus: Prometheus,
  getWeights: (network: Network) => MethodWeights,
): Meter => ({
  ...meter,
  count: (...counted) => {
    const [, network, method, outcome, , calls] = counted
    const weight = getWeights(network)[method] ?? getDefaultWeight(method)
    prometheus.countCalls(network, method, outcome, { calls, weight })
    meter.count(...counted)
  },
})
