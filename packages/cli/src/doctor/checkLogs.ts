import { randomBytes } from 'node:crypto'
import { explainFailure } from './explainFailure.ts'
import type { Finding } from './finding.ts'
import type { Probe } from './probe.ts'

/** Common range limits, largest first. */
const commonRanges = [10_000, 5_000, 2_000, 1_000, 500, 100, 10, 1]

const grouped = (value: number): string => value.toLocaleString('en-US')
const hex = (value: number): string => `0x${value.toString(16)}`

/**
 * Checks how many blocks one `eth_getLogs` call can cover. It filters by a random contract address, so that the result is empty.
 *
 * @param probe - The endpoint.
 * @param head - The number of the latest block.
 * @param range - How many blocks to try, 1 or more.
 */
export async function checkLogs({ request }: Pick<Probe, 'request'>, head: number, range: number): Promise<Finding> {
  const tried = Math.min(range, head + 1)
  const address = `0x${randomBytes(20).toString('hex')}` as const
  let rejected: ReturnType<typeof explainFailure> | undefined
  for (const blocks of [tried, ...commonRanges.filter((one) => one < tried)]) {
    try {
      const filter = { address, fromBlock: hex(head - blocks + 1), toBlock: hex(head) } as const
      await request({ method: 'eth_getLogs', params: [filter] })
      const facts = { tried, blocks }
      if (rejected === undefined) {
        const text = `ranges of ${grouped(tried)} blocks are accepted${tried < range ? ' (the whole chain)' : ''}`
        return { check: 'logs', level: 'ok', text, facts }
      }
      return {
        check: 'logs',
        level: 'warn',
        text: `ranges of ${grouped(tried)} blocks are rejected (${rejected.text}), ${grouped(blocks)} are accepted`,
        fix: 'read logs with iterateLogs of @keyrail/fetch or with keyrail logs, which split ranges automatically',
        facts,
      }
    } catch (error) {
      rejected = explainFailure(error)
      // Any other rejection also applies to smaller ranges.
      if (rejected.kind !== 'range' && rejected.kind !== 'timeout' && rejected.kind !== 'invalidRequest') break
    }
  }
  const { text = 'no response', fix = 'contact the operator of the endpoint', kind } = rejected ?? {}
  return { check: 'logs', level: 'warn', text: `cannot read logs: ${text}`, fix, facts: { tried, blocks: 0, kind } }
}
