import type { Script } from '../faultServer.ts'
import { respondWith } from './respondWith.ts'
import { getCalls } from './getCalls.ts'

/** Options of {@link rateLimit}. */
export interface RateLimitOptions {
  /** The number of calls in each window. Each call of a batch counts. */
  readonly calls: number
  /** The length of a window, in milliseconds. The first one starts with the first request. @default 1_000 */
  readonly windowMs?: number
  /** The response to requests over the limit. */
  readonly rejection: Script
  readonly normal?: Script
}

/** A server that accepts a number of calls in each window, as providers count them, and rejects the rest. */
export function rateLimit({ calls, windowMs = 1_000, rejection, normal = respondWith() }: RateLimitOptions): Script {
  let endsAt = 0
  let left = 0
  return (seen, ...rest) => {
    const now = performance.now()
    if (now >= endsAt) {
      endsAt = now + windowMs
      left = calls
    }
    left -= getCalls(seen).length
    ;(left >= 0 ? normal : rejection)(seen, ...rest)
  }
}
