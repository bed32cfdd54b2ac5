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
