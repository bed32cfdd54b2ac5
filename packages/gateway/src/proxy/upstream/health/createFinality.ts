import { monotonicClock } from '../../../lib/clock.ts'
import { getMember } from '../../../lib/json/scanMembers.ts'
import { queryUpstream } from '../queryUpstream.ts'
import { parseQuantity } from '../../../lib/rpc/quantity.ts'
import type { QueryResult } from '../queryUpstream.ts'
import type { Upstream } from '../createUpstream.ts'

/** An upstream's finalized block. */
export interface Finality {
  /**
   * Gets the number of the finalized block that was known at a time, or -1 if none was. A response to a call that was sent before that may
   * predate the block. If the number is out of date, this starts a query for a new one and does not wait for it.
   */
  readonly finalizedBefore: (time: number) => number
}

const maxAgeMs = 10_000

/**
 * Tracks an upstream's finalized block. It is queried only on demand, so a node whose callers read nothing old gets no queries.
 * @param options.onBack - Called when the number decreases: the chain was rewritten, as development nodes can do.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createFinality = (
  upstream: Upstream,
  options: { timeoutMs: number; onBack: () => void; now?: () => number },
): Finality => {
  const { timeoutMs, onBack, now = monotonicClock() } = options
  let last = { number: -1, receivedAt: -Infinity }
  let previous = last
  let queriedAt = -Infinity
  const refresh = async (): Promise<void> => {
    queriedAt = now()
    const query = { method: 'eth_getBlockByNumber', params: '["finalized",false]' }
    const number = getBlockNumber(await queryUpstream(upstream, query, timeoutMs))
    if (number === undefined) return
    if (number < last.number) {
      onBack()
      last = { number: -1, receivedAt: now() }
    }
    previous = last
    last = { number, receivedAt: now() }
  }
  return {
    finalizedBefore: (time) => {
      if (now() - queriedAt > maxAgeMs) void refresh()
      if (last.receivedAt <= time) return last.number
      return previous.receivedAt <= time ? previous.number : -1
    },
  }
}

const getBlockNumber = (result: QueryResult): number | undefined => {
  if (typeof result === 'string' || result.member !== 'result') return undefined
  return parseQuantity(getMember(result.value.toString('latin1'), 'number'))
}
