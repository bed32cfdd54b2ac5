import type { RateDecision, RateLimits } from './rateDecision.ts'

/*
 * Workers of one machine share the rate of a key by leases. The primary has the bucket of the key; a worker holds tokens that it took from the
 * bucket in advance. Until a worker reports a leased token as used or returns it, the token counts as spent and is not refilled. So all
 * workers together never grant more than the bucket does.
 */

/** Decides on rates: alone, or with other processes. */
export interface Rates {
  /** Takes one token per call: see `RateLimiter`. A promise if another process must be asked. */
  take(id: string, limits: RateLimits, calls: number, weights?: readonly number[]): RateDecision | Promise<RateDecision>
  /** Returns what taking one token would decide, as far as this process knows, and takes nothing. */
  peek(id: string, limits: RateLimits): RateDecision
}

/** The report of a worker about the lease of one key, and its request. Amounts are in tokens. */
export interface LeaseRequest {
  /** The id of the key or app, never the key itself. */
  readonly id: string
  readonly limits: RateLimits
  /** Leased tokens that were used since the last report. */
  readonly used: number
  /** How long ago the last one was used, in whole milliseconds. */
  readonly usedAgoMs: number
  /** Leased tokens that are returned. */
  readonly returned: number
  /** The tokens to lease; 0 for a report without a request. */
  readonly wanted: number
  /** Fewer tokens than this are of no use to the worker. */
  readonly least: number
}

/** The reply to a request of 1 token or more. */
export interface LeaseReply {
  readonly id: string
  /** Between `least` and `wanted`, or 0. */
  readonly leased: number
  /** The spent units of the bucket, with all that is leased. */
  readonly spent: number
  /** If nothing was leased: how long until `least` tokens are refilled. */
  readonly retryAfterMs: number
}
