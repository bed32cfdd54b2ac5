import { createRecentMap } from './createRecentMap.ts'

/** What a rate limit says of one request. */
export interface RateDecision {
  /** How many of the calls asked for may go on: all, the first few of a batch, or none. */
  readonly granted: number
  readonly perSecond: number
  /** How many more calls would be granted now. */
  readonly remaining: number
  /** When the calls that were not granted would be, of them at most a full burst; 0 where all were. */
  readonly retryAfterMs: number
  /** When a full burst would be granted again. */
  readonly resetMs: number
  /** The rate that granting all would have made, over the time that a full burst stands for, rounded up to a tenth. */
  readonly currentPerSecond: number
}

/** Limits how often each key may call. */
export interface RateLimit {
  /**
   * Takes calls from a key's allowance. What is not granted costs nothing.
   * @param key - Whose calls these are.
   * @param calls - How many, 0 or more: one for each item of a batch. @default 1
   */
  take(key: string, calls?: number): RateDecision
  /** How many keys are remembered now. */
  readonly size: number
}

/** What a rate limit is made of. */
export interface RateLimitOptions {
  /** Calls a second, in the long run: a whole number from 1 to 1,000,000. */
  readonly perSecond: number
  /** Calls at once by a key that was quiet, from 1 to 1,000,000. @default perSecond */
  readonly burst?: number | undefined
  /** Keys remembered, 2 or more. Past half of it, a key that was not heard of longest may begin with a full burst again; none is refused. @default 100_000 */
  readonly maxKeys?: number | undefined
  /** A clock in milliseconds that never goes back; parts of a millisecond are dropped. @default performance.now */
  readonly now?: (() => number) | undefined
}

/** What one call adds to a key's debt. Each millisecond pays off `perSecond`, so that all stays in whole numbers. */
const callDebt = 1000

interface Debtor {
  debt: number
  at: number
}

/**
 * Makes a rate limit by the generic cell rate algorithm, kept as a debt that drains: of any span of time, no more than
 * `burst + perSecond × seconds` calls are granted, and nothing is refused that would keep to that.
 * @throws {TypeError} where an option is out of its range.
 * @example
 * const limit = createRateLimit({ perSecond: 100, burst: 1000 })
 * limit.take('app-1', 50).granted // 50
 * @see ITU-T I.371 annex A
 */
export const createRateLimit = (options: RateLimitOptions): RateLimit => {
  const perSecond = checkCount(options.perSecond, 'perSecond')
  const burst = checkCount(options.burst ?? perSecond, 'burst')
  const now = options.now ?? (() => performance.now())
  const debtors = createRecentMap<Debtor>(options.maxKeys ?? 100_000)
  const most = burst * callDebt
  return {
    take: (key, calls = 1) => {
      const time = Math.floor(now())
      let debtor = debtors.get(key)
      if (debtor === undefined) {
        debtor = { debt: 0, at: time }
        debtors.set(key, debtor)
      } else if (time > debtor.at) {
        debtor.debt = Math.max(0, debtor.debt - (time - debtor.at) * perSecond)
        debtor.at = time
      }
      const asked = debtor.debt + calls * callDebt
      const granted = Math.min(calls, Math.floor((most - debtor.debt) / callDebt))
      debtor.debt += granted * callDebt
      const missing = Math.min(calls - granted, burst)
      return {
        granted,
        perSecond,
        remaining: Math.floor((most - debtor.debt) / callDebt),
        retryAfterMs: missing === 0 ? 0 : Math.ceil((debtor.debt + missing * callDebt - most) / perSecond),
        resetMs: Math.ceil(debtor.debt / perSecond),
        currentPerSecond: Math.ceil((asked * perSecond * 10) / most) / 10,
      }
    },
    get size() {
      return debtors.size
    },
  }
}

const checkCount = (value: number, option: string): number => {
  if (!Number.isSafeInteger(value) || value < 1 || value > 1_000_000)
    throw new TypeError(`${option} must be a whole number from 1 to 1000000`)
  return value
}
