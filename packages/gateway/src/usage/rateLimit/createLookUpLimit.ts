import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { createIpLimit } from './createIpLimit.ts'
import type { IpLimit } from './createIpLimit.ts'

/** Whether a key may be looked up. */
export type LookUpDecision =
  | {
      readonly kind: 'allowed'
      /**
       * Call it once, when it is known whether the key exists, and its token has been taken if it does not.
       * @param isFailed - The database did not respond.
       */
      readonly leave: (isFailed: boolean) => void
    }
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  /** The database did not respond to another look-up of this IP. */
  | { readonly kind: 'unavailable' }

/** Limits how often the database is queried for keys that are not in memory, by IP. */
export interface LookUpLimit {
  /**
   * @param decide - Called once, unless the request is removed from the queue: in the same tick unless other look-ups of this IP decide.
   * @returns A function that removes the request from the queue; `undefined` if it is not in the queue.
   */
  enter(ip: string | undefined, decide: (decision: LookUpDecision) => void): (() => void) | undefined
  /** The number of IPs that have look-ups in flight. */
  readonly size: number
}

/** A request that waits for the results of other look-ups. */
interface Waiter {
  readonly decide: (decision: LookUpDecision) => void
}

/** The look-ups in flight of an IP, and the requests that wait for their results. */
interface Pending {
  readonly ip: string | undefined
  running: number
  /** A set, because disconnected callers leave from any place. Ordinary traffic never waits here. */
  readonly waiting: Set<Waiter>
}

/**
 * Creates a limit of look-ups. An IP (an IPv6 /64) may look up as many keys at once as it may still send unknown ones. Further look-ups wait
 * until it is known whether those keys exist, so that many valid keys behind one IP are not rejected. An IP that has sent too many unknown
 * keys has one look-up a second, so that its valid keys get into memory, too. If a look-up fails, so do those that wait: each of them would
 * wait for the database once more.
 * @param options.unknownKeys - Has a token taken for each key that turns out to be unknown.
 * @param options.maxWaiting - How many look-ups of an IP wait. More are rejected.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createLookUpLimit = ({
  unknownKeys,
  maxWaiting = 1_000,
  now,
}: {
  unknownKeys: IpLimit
  maxWaiting?: number
  now?: (() => number) | undefined
}): LookUpLimit => {
  const slow = createIpLimit({ perSecond: 1, now })
  const pending = new Map<string, Pending>()

  const allow = (block: string, state: Pending): LookUpDecision => {
    state.running += 1
    return {
      kind: 'allowed',
      leave: (isFailed) => {
        state.running -= 1
        decideWaiting(block, state, isFailed ? { kind: 'unavailable' } : undefined)
      },
    }
  }
  /** @returns `undefined` if the look-ups in flight decide. */
  const decideNow = (block: string, state: Pending): LookUpDecision | undefined => {
    const { remaining } = unknownKeys.take(state.ip, { calls: 0 })
    if (state.running < remaining) return allow(block, state)
    if (remaining > 0) return undefined
    const { granted, retryAfterMs } = slow.take(state.ip)
    return granted > 0 ? allow(block, state) : { kind: 'limited', retryAfterMs }
  }
  const decideWaiting = (block: string, state: Pending, forAll?: LookUpDecision): void => {
    for (const waiter of state.waiting) {
      const decision = forAll ?? decideNow(block, state)
      if (decision === undefined) return
      state.waiting.delete(waiter)
      waiter.decide(decision)
    }
    if (state.running === 0) pending.delete(block)
  }

  return {
    enter: (ip, decide) => {
      const block = toIpBlock(ip ?? '')
      const state = pending.get(block) ?? { ip, running: 0, waiting: new Set() }
      pending.set(block, state)
      // In the order of arrival.
      const decision = state.waiting.size === 0 ? decideNow(block, state) : undefined
      if (decision === undefined && state.waiting.size < maxWaiting) {
        const waiter = { decide }
        state.waiting.add(waiter)
        return () => state.waiting.delete(waiter)
      }
      if (state.running === 0) pending.delete(block)
      decide(decision ?? { kind: 'limited', retryAfterMs: 1_000 })
      return undefined
    },
    get size() {
      return pending.size
    },
  }
}
