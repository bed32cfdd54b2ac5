import type { RateDecision } from './rateDecision.ts'

/** How often a key may call. */
export interface RateLimits {
  /** Calls a second, in the long run: a whole number from 1 to 1,000,000. */
  readonly perSecond: number
  /** Calls at once by a key that was quiet, from 1 to 1,000,000. */
  readonly burst: number
}

/** Limits how often each key may call, by limits that each key has of its own. */
export interface RateLimiter {
  /**
   * Takes calls from a key's allowance. What is not granted costs nothing.
   * @param id - Whose calls these are: the key's or the app's id, never the key.
   * @param calls - How many, 0 or more: one for each item of a batch.
   * @returns A plain value where it is decided here; a promise where Redis is asked. It is never rejected.
   */
  take(id: string, limits: RateLimits, calls: number): RateDecision | Promise<RateDecision>
  /**
   * Returns what taking one call would decide, as far as this process knows, and takes nothing. With it the gateway rejects a large body
   * of a key whose rate is used up before parsing it. @default the gateway parses first
   */
  peek?(id: string, limits: RateLimits): RateDecision
}
