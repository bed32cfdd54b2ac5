import { monotonicClock } from '../../lib/clock.ts'
import { scanMembers } from '../../lib/json/scanMembers.ts'
import { queryUpstream, quantityIn } from './queryUpstream.ts'
import type { AskEnd } from './queryUpstream.ts'
import type { Upstream } from './createUpstream.ts'

/** What an upstream says can change no more. */
export interface Finality {
  /**
   * The number of its finalized block as heard before a moment, -1 where nothing was. An answer that was asked for before it was
   * heard may be of a time when that block was not there yet. Asks anew, not waiting, where the last time is a while ago.
   */
  readonly numberBefore: (moment: number) => number
}

const freshMs = 10_000

/**
 * Makes the memory of an upstream's finalized block. It is asked only where someone wants to know, so a node whose callers read
 * nothing old is left in peace.
 * @param options.onBack - Told when the number went back: the chain was rewritten, as development nodes may do.
 * @param options.now - Milliseconds of a clock that never goes back. @default performance.now
 */
export const createFinality = (
  upstream: Upstream,
  options: { timeoutMs: number; onBack: () => void; now?: () => number },
): Finality => {
  const { timeoutMs, onBack, now = monotonicClock() } = options
  let last = { number: -1, heardAt: -Infinity }
  let previous = last
  let askedAt = -Infinity
  const ask = async (): Promise<void> => {
    askedAt = now()
    const question = { method: 'eth_getBlockByNumber', params: '["finalized",false]' }
    const heard = numberOf(await queryUpstream(upstream, question, timeoutMs))
    if (heard === undefined) return
    if (heard < last.number) {
      onBack()
      last = { number: -1, heardAt: now() }
    }
    previous = last
    last = { number: heard, heardAt: now() }
  }
  return {
    numberBefore: (moment) => {
      if (now() - askedAt > freshMs) void ask()
      if (last.heardAt <= moment) return last.number
      return previous.heardAt <= moment ? previous.number : -1
    },
  }
}

const numberOf = (end: AskEnd): number | undefined => {
  if (typeof end === 'string' || end.member !== 'result') return undefined
  const text = end.value.toString('latin1')
  const found = scanMembers(text)?.members.filter(({ name }) => name === 'number') ?? []
  const [only] = found
  return only === undefined || found.length > 1 ? undefined : quantityIn(text.slice(only.start, only.end))
}
