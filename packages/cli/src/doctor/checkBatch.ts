import { describeFailure } from './describeFailure.ts'
import type { Finding } from './finding.ts'
import { once } from './probe.ts'
import type { Probe } from './probe.ts'

/**
 * Looks how many calls go into one request. A batch that is rejected is divided until its parts are answered, as the SDK does.
 *
 * @param probe - The address.
 * @param size - How many calls are tried, 2 or more.
 */
export async function checkBatch(
  { batch, takeAttempts }: Pick<Probe, 'batch' | 'takeAttempts'>,
  size: number,
): Promise<Finding> {
  takeAttempts()
  const calls = Array.from({ length: size }, () => ({ method: 'eth_blockNumber' }) as const)
  const results = await batch(calls, once)
  const attempts = takeAttempts()
  const rejected = results.filter((result) => result.status === 'rejected')
  const largest = Math.max(0, ...attempts.filter(({ kind }) => kind === undefined).map(({ batchSize }) => batchSize))
  const facts = { tried: size, answered: size - rejected.length, largest }
  const [first] = rejected
  if (first !== undefined) {
    const { text, fix } = describeFailure(first.reason)
    return {
      check: 'batch',
      level: 'warn',
      text: `of a batch of ${size} calls ${rejected.length} failed: ${text}`,
      fix,
      facts,
    }
  }
  if (largest >= size) return { check: 'batch', level: 'ok', text: `${size} calls in one request are answered`, facts }
  if (largest <= 1) {
    const fix = 'leave batch off, as it is where nothing is said: each rejected batch is a request for nothing'
    return { check: 'batch', level: 'warn', text: 'batches are rejected, single calls answered', fix, facts }
  }
  return {
    check: 'batch',
    level: 'warn',
    text: `${size} calls in one request are rejected, ${largest} answered`,
    fix: `give batch: { maxCalls: ${largest} }; the SDK finds it out by itself too, at the cost of rejected requests`,
    facts,
  }
}
