import type { Clock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'

/** Tries that cost time: each adds to a debt, which time pays off. */
export interface Throttle {
  /** How long a key must wait for its next try, in milliseconds; 0 where it may try now. */
  waitMs(key: string): number
  /** Adds a try, whether it may be made or not. @returns What takes it back, as if it had not been made. */
  add(key: string): () => void
  /** How many keys are remembered. */
  readonly size: number
}

/** How tries are slowed. */
export interface ThrottleOptions {
  /** Tries at once by a key without debts, 1 or more. */
  readonly burst: number
  /** How long it takes to pay for one. */
  readonly intervalMs: number
  /** Keys remembered; past half of it, one that was not heard of longest may be forgotten. @default 50_000 */
  readonly maxKeys?: number | undefined
  /** A monotonic clock in milliseconds. */
  readonly now: Clock
}

/**
 * Makes a ledger of debts: in any span of time, a key that waits as told makes at most `burst + span / intervalMs` tries. A debt never
 * grows past the burst's, so it is always forgotten after `burst × intervalMs`.
 */
export const createThrottle = ({ burst, intervalMs, maxKeys = 50_000, now }: ThrottleOptions): Throttle => {
  /** When each is free of debts. */
  const freeAt = createRecentMap<number>(maxKeys)
  const most = burst * intervalMs
  const debtOf = (key: string): number => Math.max(0, (freeAt.get(key) ?? -Infinity) - now())
  return {
    waitMs: (key) => Math.max(0, debtOf(key) + intervalMs - most),
    add: (key) => {
      const before = debtOf(key)
      const added = Math.min(intervalMs, most - before)
      freeAt.set(key, now() + before + added)
      return () => freeAt.set(key, now() + Math.max(0, debtOf(key) - added))
    },
    get size() {
      return freeAt.size
    },
  }
}
