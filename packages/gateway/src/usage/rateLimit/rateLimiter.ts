/** The rate limit of one key: a token bucket with one token per call. */
export interface RateLimits {
  /** Tokens refilled per second: a whole number from 1 to 1,000,000. */
  readonly perSecond: number
  /** The bucket's capacity, so the most calls at once: from 1 to 1,000,000. */
  readonly burst: number
}

/** A rate limiter's decision on one request. */
export interface RateDecision {
  /** How many of the calls are granted: all, the first few of a batch, or none. */
  readonly granted: number
  readonly perSecond: number
  /** How many more calls would be granted now. */
  readonly remaining: number
  /** How long until the rejected calls, at most a full burst of them, would be granted; 0 if none was rejected. */
  readonly retryAfterMs: number
  /** How long until the bucket is full again. */
  readonly resetMs: number
  /** The caller's rate, rejected calls included, averaged over the time in which a full bucket refills; rounded up to a tenth. */
  readonly currentPerSecond: number
}

/** Limits each key to its own rate. */
export interface RateLimiter {
  /**
   * Takes one token per call. Rejected calls take none.
   * @param id - The id of the key or app, never the key itself.
   * @param calls - 0 or more: one for each call of a batch.
   * @returns A plain value if the decision is local, a promise if it needs Redis. The promise never rejects.
   */
  take(id: string, limits: RateLimits, calls: number): RateDecision | Promise<RateDecision>
  /**
   * Returns what taking one call would decide, as far as this process knows, and takes nothing. With it the gateway rejects a large body
   * of a key whose rate is used up before parsing it. @default the gateway parses first
   */
  peek?(id: string, limits: RateLimits): RateDecision
}
