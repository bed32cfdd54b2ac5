import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { createIpLimit } from './createIpLimit.ts'
import type { IpLimit } from './createIpLimit.ts'

/** Whether a key may be looked up. */
export type LookUpDecision =
  | {
      readonly isAllowed: true
      /** Call it once, when it is known whether the key exists, and its token has been taken if it does not. */
      readonly leave: () => void
    }
  | { readonly isAllowed: false; readonly retryAfterMs: number }

/** Limits how often the database is asked for keys that are not in memory, by IP. */
export interface LookUpLimit {
  /** @param decide - Called once, in the same tick unless other look-ups of this IP decide. */
  enter(ip: string | undefined, decide: (decision: LookUpDecision) => void): void
  /** The number of IPs that have look-ups in flight. */
  readonly size: number
}

/** The look-ups in flight of an IP, and the requests that wait for their results. */
interface Pending {
  readonly ip: string | undefined
  running: number
  readonly waiting: ((decision: LookUpDecision) => void)[]
}

/**
 * Creates a limit of look-ups. An IP (an IPv6 /64) may look up as many keys at once as it may still send unknown ones. Further look-ups wait
 * until it is known whether those keys exist, so that many valid keys behind one IP are never rejected. An IP that has sent too many unknown
 * keys has one look-up a second, so that its valid keys get into memory, too.
 * @param options.unknownKeys - Has a token taken for each key that turns out to be unknown.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createLookUpLimit = ({
  unknownKeys,
  now,
}: {
  unknownKeys: IpLimit
  now?: (() => number) | undefined
}): LookUpLimit => {
  const slow = createIpLimit({ perSecond: 1, now })
  const pending = new Map<string, Pending>()

  const allow = (block: string, state: Pending): LookUpDecision => {
    state.running += 1
    return {
      isAllowed: true,
      leave: () => {
        state.running -= 1
        decideWaiting(block, state)
      },
    }
  }
  /** @returns `undefined` if the look-ups in flight decide. */
  const decideNow = (block: string, state: Pending): LookUpDecision | undefined => {
    const { remaining } = unknownKeys.take(state.ip, { calls: 0 })
    if (state.running < remaining) return allow(block, state)
    if (remaining > 0) return undefined
    const { granted, retryAfterMs } = slow.take(state.ip)
    return granted > 0 ? allow(block, state) : { isAllowed: false, retryAfterMs }
  }
  const decideWaiting = (block: string, state: Pending): void => {
    while (state.waiting.length > 0) {
      const decision = decideNow(block, state)
      if (decision === undefined) return
      state.waiting.shift()?.(decision)
    }
    if (state.running === 0) pending.delete(block)
  }

  return {
    enter: (ip, decide) => {
      const block = toIpBlock(ip ?? '')
      const state = pending.get(block) ?? { ip, running: 0, waiting: [] }
      pending.set(block, state)
      // In the order of arrival.
      const decision = state.waiting.length === 0 ? decideNow(block, state) : undefined
      if (decision === undefined) state.waiting.push(decide)
      else {
        if (state.running === 0) pending.delete(block)
        decide(decision)
      }
    },
    get size() {
      return pending.size
    },
  }
}
