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
 * @param options.depth - How many blocks behind its head a block is final, if the upstream has never had a block with the tag `finalized`. @default none is final
 * @param options.head - Gets its head.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createFinality = (
  upstream: Upstream,
  options: {
    timeoutMs: number
    onBack: () => void
    depth?: number | undefined
    head?: () => number | undefined
    now?: () => number
  },
): Finality => {
  const { timeoutMs, onBack, depth, head, now = monotonicClock() } = options
  let last = { number: -1, receivedAt: -Infinity }
  let previous = last
  let queriedAt = -Infinity
  /** A node with the tag that has nothing final for a while, as after a restart, is not one without the tag. */
  let hasTag = false
  const refresh = async (): Promise<void> => {
    queriedAt = now()
    const query = { method: 'eth_getBlockByNumber', params: '["finalized",false]' }
    const result = await queryUpstream(upstream, query, timeoutMs)
    const tagged = getBlockNumber(result)
    hasTag ||= tagged !== undefined
    const number = tagged ?? (hasTag || typeof result === 'string' ? undefined : getDeepBlock())
    // A chain that is shorter than the depth has gone back if something was final before.
    if (number === undefined || (number < 0 && last.number < 0)) return
    // Behind a load balancer, heads go back by a few blocks.
    if (tagged === undefined && depth !== undefined && number < last.number && number >= last.number - depth) return
    if (number < last.number) {
      onBack()
      last = { number: -1, receivedAt: now() }
      previous = last
    }
    if (number < 0) return
    previous = last
    last = { number, receivedAt: now() }
  }
  const getDeepBlock = (): number | undefined => {
    const newest = head?.()
    return newest === undefined || depth === undefined ? undefined : newest - depth
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
