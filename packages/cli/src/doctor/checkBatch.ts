import { explainFailure } from './explainFailure.ts'
import type { Finding } from './finding.ts'
import { noRetry } from './probe.ts'
import type { Probe } from './probe.ts'

/**
 * Checks how many calls fit into one request. A rejected batch is split until its parts succeed, as in the SDK.
 *
 * @param probe - The endpoint.
 * @param size - The batch size to try, 2 or more.
 */
export async function checkBatch(
  { batch, takeAttempts }: Pick<Probe, 'batch' | 'takeAttempts'>,
  size: number,
): Promise<Finding> {
  takeAttempts()
  const calls = Array.from({ length: size }, () => ({ method: 'eth_blockNumber' }) as const)
  const results = await batch(calls, noRetry)
  const attempts = takeAttempts()
  const rejected = results.filter((result) => result.status === 'rejected')
  const largest = Math.max(0, ...attempts.filter(({ kind }) => kind === undefined).map(({ batchSize }) => batchSize))
  const facts = { tried: size, succeeded: size - rejected.length, largest }
  const [first] = rejected
  if (first !== undefined) {
    const { text, fix } = explainFailure(first.reason)
    return {
      check: 'batch',
      level: 'warn',
      text: `${rejected.length} of ${size} calls in a batch failed: ${text}`,
      fix,
      facts,
    }
  }
  if (largest >= size) return { check: 'batch', level: 'ok', text: `batches of ${size} calls are accepted`, facts }
  if (largest <= 1) {
    const fix = 'leave batch off, which is the default: each rejected batch costs a request'
    return { check: 'batch', level: 'warn', text: 'batches are rejected, single calls are accepted', fix, facts }
  }
  return {
    check: 'batch',
    level: 'warn',
    text: `batches of ${size} calls are rejected, ${largest} are accepted`,
    fix: `set batch({ maxCalls: ${largest} }); otherwise the SDK finds the limit at the cost of rejected requests`,
    facts,
  }
}
