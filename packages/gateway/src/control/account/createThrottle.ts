import type { Clock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'

/** Limits attempts by key: a burst, then one per interval. */
export interface Throttle {
  /** How long a key must wait before its next attempt, in milliseconds; 0 if it may try now. */
  waitMs(key: string): number
  /** Records an attempt, allowed or not. @returns A function that undoes it. */
  record(key: string): () => void
  /** How many keys are stored. */
  readonly size: number
}

/** The options of a throttle. */
export interface ThrottleOptions {
  /** Attempts at once by a key, 1 or more. */
  readonly burst: number
  /** The interval after which another attempt is allowed, in milliseconds. */
  readonly intervalMs: number
  /** Most stored keys. One more removes the least recently used one. @default 50_000 */
  readonly maxKeys?: number | undefined
  /** A monotonic clock in milliseconds. */
  readonly now: Clock
}

/**
 * Creates a throttle. In any time span, a key that respects `waitMs` makes at most `burst + span / intervalMs` attempts. Attempts that do
 * not respect it extend the wait to at most one interval, so a key's state always expires after `burst × intervalMs`.
 */
export const createThrottle = ({ burst, intervalMs, maxKeys = 50_000, now }: ThrottleOptions): Throttle => {
  /** When each key has its full burst again. */
  const fullAt = createRecentMap<number>(maxKeys)
  const maxOverage = burst * intervalMs
  const getOverage = (key: string): number => Math.max(0, (fullAt.get(key) ?? -Infinity) - now())
  return {
    waitMs: (key) => Math.max(0, getOverage(key) + intervalMs - maxOverage),
    record: (key) => {
      const before = getOverage(key)
      const added = Math.min(intervalMs, maxOverage - before)
      fullAt.set(key, now() + before + added)
      return () => fullAt.set(key, now() + Math.max(0, getOverage(key) - added))
    },
    get size() {
      return fullAt.size
    },
  }
}
