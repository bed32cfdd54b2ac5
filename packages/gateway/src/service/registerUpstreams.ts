import type * as PromClient from 'prom-client'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'
import { registerMetric, toHistogramSamples } from './registerMetric.ts'

type Labels = Readonly<Record<string, string>>

/** One gauge: its name, its help, and its value, or `null` if it has none now. */
const gauges: readonly (readonly [name: string, help: string, value: (state: UpstreamState) => number | null])[] = [
  ['healthy', 'Whether an upstream can be used: 1 if so, else 0.', ({ healthy }) => (healthy ? 1 : 0)],
  ['in_flight', 'Requests to an upstream that have not ended.', ({ inFlight }) => inFlight],
  ['head_block', 'The newest block of an upstream.', ({ head }) => head],
  ['lag_blocks', 'How many blocks an upstream is behind the highest head of its network.', ({ lag }) => lag],
  [
    'breaker_open',
    'Whether the circuit breaker of an upstream is open: 1 if so, else 0.',
    ({ breakerOpen }) => (breakerOpen ? 1 : 0),
  ],
  [
    'latency_seconds',
    'Moving average of the latency of cheap calls to an upstream.',
    ({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000),
  ],
]

/**
 * Registers the metrics of upstreams, which are read at each scrape. The labels are the names in the config, and the kinds of failures.
 * @param options.prometheus - The library, which is imported lazily.
 */
export const registerUpstreams = (
  read: () => readonly UpstreamState[],
  { prometheus: { Gauge }, registers }: { prometheus: typeof PromClient; registers: PromClient.Registry[] },
): void => {
  const toLabels = ({ network, upstream }: UpstreamState): Labels => ({ network, upstream })
  for (const [name, help, getValue] of gauges) {
    const gauge = new Gauge({
      name: `keyrail_upstream_${name}`,
      help,
      labelNames: ['network', 'upstream'],
      registers,
      collect: () => {
        gauge.reset()
        for (const state of read()) {
          const value = getValue(state)
          if (value !== null) gauge.set(toLabels(state), value)
        }
      },
    })
  }
  const budget = new Gauge({
    name: 'keyrail_upstream_budget_left',
    help: 'What is left of a limit of an upstream in the current second or day.',
    labelNames: ['network', 'upstream', 'limit'],
    registers,
    collect: () => {
      budget.reset()
      for (const state of read())
        for (const { name, left } of state.budgets) budget.set({ ...toLabels(state), limit: name }, left)
    },
  })
  registerMetric(registers, {
    name: 'keyrail_upstream_calls_total',
    help: 'Calls that an upstream was sent, by outcome: result, or the kind of failure. A call counts once for each upstream that it was sent to.',
    type: 'counter',
    samples: () =>
      read().flatMap((state) =>
        [...state.outcomes].map(([outcome, value]) => ({ labels: { ...toLabels(state), outcome }, value })),
      ),
  })
  const durationName = 'keyrail_upstream_call_duration_seconds'
  registerMetric(registers, {
    name: durationName,
    help: 'Time from when a call was sent to an upstream until it ended.',
    type: 'histogram',
    samples: () =>
      read().flatMap((state) => toHistogramSamples(durationName, state.durations, { labels: toLabels(state) })),
  })
}
