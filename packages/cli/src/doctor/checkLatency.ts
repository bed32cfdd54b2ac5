import { describeFailure } from './describeFailure.ts'
import type { Finding } from './finding.ts'
import { percentile } from './percentile.ts'
import { once } from './probe.ts'
import type { Probe } from './probe.ts'

/** Above this, people wait for each call. */
const slowMs = 1_000

const rounded = (ms: number): number => (ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms))

/**
 * Measures some calls, one after the other, over a connection that is kept.
 *
 * @param probe - The address.
 * @param calls - How many, 1 or more.
 */
export async function checkLatency({ request }: Pick<Probe, 'request'>, calls: number): Promise<Finding> {
  const times: number[] = []
  const failures: unknown[] = []
  for (let call = 0; call < calls; call += 1) {
    const startedAt = performance.now()
    try {
      await request({ method: 'eth_blockNumber' }, once)
      times.push(performance.now() - startedAt)
    } catch (error) {
      failures.push(error)
    }
  }
  if (times.length === 0) {
    const { text, fix, kind } = describeFailure(failures[0])
    const facts = { calls, failed: failures.length, kind }
    return { check: 'latency', level: 'fail', text, fix, facts }
  }
  const p50 = rounded(percentile(times, 50))
  const p95 = rounded(percentile(times, 95))
  const most = rounded(percentile(times, 100))
  const facts = { calls, failed: failures.length, p50Ms: p50, p95Ms: p95, maxMs: most }
  const text = `half of ${times.length} calls within ${p50} ms, 95 % within ${p95} ms, the slowest ${most} ms`
  if (failures.length > 0) {
    const { text: why, fix } = describeFailure(failures[0])
    const told = `${text}; ${failures.length} of ${calls} failed: ${why}`
    return { check: 'latency', level: 'warn', text: told, fix, facts }
  }
  if (p95 <= slowMs) return { check: 'latency', level: 'ok', text, facts }
  const fix = 'is there an endpoint nearer by? Batches and failover with hedging help as well'
  return { check: 'latency', level: 'warn', text, fix, facts }
}
