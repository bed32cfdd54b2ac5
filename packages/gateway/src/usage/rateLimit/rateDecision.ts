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
