/** Holds back what goes over a rate. All times are on the clock of `performance.now()`. */
export interface TokenBucket {
  /** What flows in, in units per second; `Infinity` for no limit. */
  readonly rate: () => number
  readonly setRate: (rate: number, now: number) => void
  /** Takes out what a call costs, whether or not it is there. */
  readonly take: (cost: number, now: number) => void
  /** How long until a call of this cost may go, in milliseconds, after others of the cost `ahead`. */
  readonly waitMs: (cost: number, now: number, ahead?: number) => number
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
 * bucket.take(1, performance.now())
 * bucket.waitMs(1, performance.now()) // 100
 */
export function createTokenBucket(rate: number, burstMs: number): TokenBucket {
  const size = (): number => (rate * burstMs) / 1_000
  let level = size()
  let filledAt = -Infinity
  const fill = (now: number): void => {
    // Of an endless rate no time is a part: it would give NaN.
    level = rate === Infinity ? Infinity : Math.min(size(), level + ((now - filledAt) * rate) / 1_000)
    filledAt = now
  }
  return {
    rate: () => rate,
    setRate: (next, now) => {
      fill(now)
      rate = next
      level = Math.min(level, size())
    },
    take: (cost, now) => {
      fill(now)
      level -= cost
    },
    waitMs: (cost, now, ahead = 0) => {
      fill(now)
      const lacking = ahead + Math.min(cost, size()) - level
      // What is left of rounding would wake the queue for nothing.
      return lacking > 1e-9 ? (lacking / rate) * 1_000 : 0
    },
  }
}
