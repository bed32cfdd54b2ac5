/** Holds back what goes over a rate. All times are in milliseconds, as `now()` counts. */
export interface TokenBucket {
  /** What flows in, in units per second; `Infinity` for no limit. May be changed at any time. */
  rate: number
  /** Takes out what a call costs, whether or not it is there. */
  readonly take: (cost: number, time: number) => void
  /** How long until a call of this cost may go, after others of the cost `ahead`. */
  readonly waitMs: (cost: number, time: number, ahead?: number) => number
}

/**
 * Makes a full token bucket.
 *
 * In any time T, no more goes through than `rate * T` and one bucket full. A call that costs more than the bucket holds goes when the bucket
 * is full and leaves a debt, so nothing waits for ever, and over time the rate is kept.
 *
 * @param rate - What flows in, in units per second.
 * @param burstMs - How much the bucket holds: what flows in within this time.
 * @example
 * const bucket = createTokenBucket(10, 100)
 * bucket.take(1, 0)
 * bucket.waitMs(1, 0) // 100
 * @see ITU-T I.371 annex A (the same as a virtual clock, which needs one number and no filling)
 */
export function createTokenBucket(rate: number, burstMs: number): TokenBucket {
  let fullAt = -Infinity
  const msOf = (cost: number): number => (cost / bucket.rate) * 1_000
  const bucket: TokenBucket = {
    rate,
    take: (cost, time) => {
      fullAt = Math.max(fullAt, time) + msOf(cost)
    },
    waitMs: (cost, time, ahead = 0) => {
      // Without a limit nothing waits, even if much was taken at an earlier rate.
      if (bucket.rate === Infinity) return 0
      const ms = Math.max(fullAt - time, 0) + msOf(ahead) - Math.max(burstMs - msOf(cost), 0)
      // What is left of rounding would wake the queue for nothing.
      return ms > 1e-6 ? ms : 0
    },
  }
  return bucket
}
