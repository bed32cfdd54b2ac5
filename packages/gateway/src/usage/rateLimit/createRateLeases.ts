import { monotonicClock } from '../../lib/clock.ts'
import type { LeaseReply, LeaseRequest } from './rateLease.ts'
import { unitsPerToken } from './tokenBucket.ts'

/** Leases the tokens of keys to workers. */
export interface RateLeases {
  /** Handles what a worker reports and requests. @returns The replies to requests for tokens. */
  handle(worker: number, requests: readonly LeaseRequest[]): LeaseReply[]
  /** Ends all leases of a worker that has exited. Their tokens count as used now, because it may have used them. */
  end(worker: number): void
  /** Forgets the keys whose bucket is full. Call it now and then. */
  sweep(): void
  /** The number of keys with a bucket. */
  readonly size: number
}

/** The bucket of one key. */
interface LeasedBucket {
  /** Units used and not refilled yet, at `updatedAt`. Below 0: full since `-spent / perSecond` milliseconds. */
  spent: number
  /** In whole milliseconds. */
  updatedAt: number
  perSecond: number
  /** Tokens of each worker that are neither reported as used nor returned. */
  readonly leased: Map<number, number>
}

/**
 * Creates the leases of the primary. In any period all workers together use at most `burst + perSecond × seconds` tokens of a key.
 * @param options.now - A monotonic clock in milliseconds; fractions are dropped. @default performance.now
 */
export const createRateLeases = ({ now = monotonicClock() }: { now?: () => number } = {}): RateLeases => {
  const buckets = new Map<string, LeasedBucket>()

  const getBucket = (id: string, perSecond: number, time: number): LeasedBucket => {
    let bucket = buckets.get(id)
    if (bucket === undefined) {
      bucket = { spent: 0, updatedAt: time, perSecond, leased: new Map() }
      buckets.set(id, bucket)
    }
    refill(bucket, time)
    bucket.perSecond = perSecond
    return bucket
  }

  return {
    handle: (worker, requests) => {
      const time = Math.floor(now())
      const replies: LeaseReply[] = []
      for (const request of requests) {
        const { id, limits, used, usedAgoMs, returned, wanted, least } = request
        const bucket = getBucket(id, limits.perSecond, time)
        if (used > 0) charge(bucket, used, time - usedAgoMs)
        changeLease(bucket, worker, -used - returned)
        if (wanted === 0) continue
        const capacity = limits.burst * unitsPerToken
        const free = Math.floor((capacity - getSpent(bucket)) / unitsPerToken)
        const leased = free < least ? 0 : Math.min(free, wanted)
        changeLease(bucket, worker, leased)
        const spent = getSpent(bucket)
        const missing = spent + Math.min(least, limits.burst) * unitsPerToken - capacity
        const retryAfterMs = leased > 0 ? 0 : Math.max(1, Math.ceil(missing / limits.perSecond))
        replies.push({ id, leased, spent, retryAfterMs })
      }
      return replies
    },
    end: (worker) => {
      const time = Math.floor(now())
      for (const bucket of buckets.values()) {
        const tokens = bucket.leased.get(worker)
        if (tokens === undefined) continue
        refill(bucket, time)
        charge(bucket, tokens, time)
        bucket.leased.delete(worker)
      }
    },
    sweep: () => {
      const time = Math.floor(now())
      for (const [id, bucket] of buckets) {
        refill(bucket, time)
        if (getSpent(bucket) === 0) buckets.delete(id)
      }
    },
    get size() {
      return buckets.size
    },
  }
}

const refill = (bucket: LeasedBucket, time: number): void => {
  if (time <= bucket.updatedAt) return
  bucket.spent -= (time - bucket.updatedAt) * bucket.perSecond
  bucket.updatedAt = time
}

/** Charges tokens that were used at `usedAt` or before. Tokens that were refilled since then count. */
const charge = (bucket: LeasedBucket, tokens: number, usedAt: number): void => {
  const refilled = Math.max(0, bucket.updatedAt - usedAt) * bucket.perSecond
  bucket.spent = Math.max(0, bucket.spent + refilled) + tokens * unitsPerToken - refilled
}

const changeLease = (bucket: LeasedBucket, worker: number, by: number): void => {
  const tokens = (bucket.leased.get(worker) ?? 0) + by
  if (tokens > 0) bucket.leased.set(worker, tokens)
  else bucket.leased.delete(worker)
}

/** The spent units, with all that is leased. */
const getSpent = ({ spent, leased }: LeasedBucket): number => {
  let tokens = 0
  for (const each of leased.values()) tokens += each
  return Math.max(0, spent) + tokens * unitsPerToken
}
