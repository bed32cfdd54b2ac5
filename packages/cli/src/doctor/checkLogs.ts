import { randomBytes } from 'node:crypto'
import { describeFailure } from './describeFailure.ts'
import type { Finding } from './finding.ts'
import type { Probe } from './probe.ts'

/** Limits that services have, from the widest down. */
const usualSpans = [10_000, 5_000, 2_000, 1_000, 500, 100, 10, 1]

const grouped = (value: number): string => value.toLocaleString('en-US')
const hex = (value: number): string => `0x${value.toString(16)}`

/**
 * Looks over how many blocks logs can be asked for at once. It asks for those of a contract that there is not, so that only the search is paid for.
 *
 * @param probe - The address.
 * @param head - The number of the newest block.
 * @param span - How many blocks are tried, 1 or more.
 */
export async function checkLogs({ request }: Pick<Probe, 'request'>, head: number, span: number): Promise<Finding> {
  const whole = Math.min(span, head + 1)
  const address = `0x${randomBytes(20).toString('hex')}` as const
  const tries = [whole, ...usualSpans.filter((one) => one < whole)]
  let rejected: ReturnType<typeof describeFailure> | undefined
  for (const blocks of tries) {
    try {
      const filter = { address, fromBlock: hex(head - blocks + 1), toBlock: hex(head) } as const
      await request({ method: 'eth_getLogs', params: [filter] })
      const facts = { tried: whole, blocks }
      if (rejected === undefined) {
        const text =
          whole < span
            ? `all ${grouped(whole)} blocks that there are can be asked for at once`
            : `${grouped(whole)} blocks can be asked for at once`
        return { check: 'logs', level: 'ok', text, facts }
      }
      return {
        check: 'logs',
        level: 'warn',
        text: `${grouped(whole)} blocks at once are rejected (${rejected.text}), ${grouped(blocks)} answered`,
        fix: 'read logs by iterateLogs of @keyrail/fetch or by keyrail logs: they divide ranges by themselves',
        facts,
      }
    } catch (error) {
      rejected = describeFailure(error)
      // What is rejected for another reason is rejected for a smaller range too.
      if (rejected.kind !== 'range' && rejected.kind !== 'timeout' && rejected.kind !== 'invalidRequest') break
    }
  }
  const { text = 'nothing was answered', fix = 'ask who runs the address', kind } = rejected ?? {}
  const facts = { tried: whole, blocks: 0, kind }
  return { check: 'logs', level: 'warn', text: `no logs: ${text}`, fix, facts }
}
