import { explainFailure } from './explainFailure.ts'
import type { Finding } from './finding.ts'
import { noRetry } from './probe.ts'
import type { Probe } from './probe.ts'

/** Above this, users notice each call. */
const slowMs = 1_000

const round = (ms: number): number => (ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms))

/**
 * Computes a percentile by nearest rank.
 *
 * @param values - At least one, in any order.
 * @param percent - Above 0, at most 100.
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

/**
 * Measures sequential calls over a keep-alive connection.
 *
 * @param probe - The endpoint.
 * @param calls - How many, 1 or more.
 */
export async function checkLatency({ request }: Pick<Probe, 'request'>, calls: number): Promise<Finding> {
  const times: number[] = []
  const failures: unknown[] = []
  for (let call = 0; call < calls; call += 1) {
    const startedAt = performance.now()
    try {
      await request({ method: 'eth_blockNumber' }, noRetry)
      times.push(performance.now() - startedAt)
    } catch (error) {
      failures.push(error)
    }
  }
  if (times.length === 0) {
    const { text, fix, kind } = explainFailure(failures[0])
    const facts = { calls, failed: failures.length, kind }
    return { check: 'latency', level: 'fail', text, fix, facts }
  }
  const p50 = round(percentile(times, 50))
  const p95 = round(percentile(times, 95))
  const max = round(percentile(times, 100))
  const facts = { calls, failed: failures.length, p50Ms: p50, p95Ms: p95, maxMs: max }
  const text = `p50 ${p50} ms, p95 ${p95} ms, max ${max} ms over ${times.length} calls`
  if (failures.length > 0) {
    const { text: reason, fix } = explainFailure(failures[0])
    const withFailures = `${text}; ${failures.length} of ${calls} failed: ${reason}`
    return { check: 'latency', level: 'warn', text: withFailures, fix, facts }
  }
  if (p95 <= slowMs) return { check: 'latency', level: 'ok', text, facts }
  const fix = 'use a closer endpoint; batches and failover with hedging also help'
  return { check: 'latency', level: 'warn', text, fix, facts }
}
