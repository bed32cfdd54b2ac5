/** Limits a rate. All times are in milliseconds, as `now()` counts. */
export interface TokenBucket {
  /** The rate in units per second; `Infinity` for no limit. May be changed at any time. */
  rate: number
  /** Takes the cost of a call, even if the bucket holds less. */
  readonly take: (cost: number, time: number) => void
  /** How long until a call of this cost may be sent, after others of the cost `ahead`. */
  readonly waitMs: (cost: number, time: number, ahead?: number) => number
}

/**
 * Creates a full token bucket.
 *
 * In any time T, at most `rate * T` plus one full bucket is sent. A call that costs more than a full bucket is sent when the bucket is full, and
 * the next calls wait longer. So no call waits forever, and the average rate holds.
 *
 * @param rate - Units per second.
 * @param burstMs - The size of the bucket: as many units as the rate adds in this time.
 * @example
 * const bucket = createTokenBucket(10, 100)
 * bucket.take(1, 0)
 * bucket.waitMs(1, 0) // 100
 * @see ITU-T I.371 annex A (the same as a virtual clock, which needs one number and no filling)
 */
export function createTokenBucket(rate: number, burstMs: number): TokenBucket {
  let fullAt = -Infinity
  const toMs = (cost: number): number => (cost / bucket.rate) * 1_000
  const bucket: TokenBucket = {
    rate,
    take: (cost, time) => {
      fullAt = Math.max(fullAt, time) + toMs(cost)
    },
    waitMs: (cost, time, ahead = 0) => {
      // Without a limit no call waits, even if much was taken at an earlier rate.
      if (bucket.rate === Infinity) return 0
      const ms = Math.max(fullAt - time, 0) + toMs(ahead) - Math.max(burstMs - toMs(cost), 0)
      // A wait that is only a rounding error would wake the queue for nothing.
      return ms > 1e-6 ? ms : 0
    },
  }
  return bucket
}
