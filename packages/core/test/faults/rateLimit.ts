import type { Script } from '../faultServer.ts'
import { answering } from './answering.ts'
import { callsOf } from './callsOf.ts'

/** Options of {@link rateLimit}. */
export interface RateLimitOptions {
  /** So many calls in each window; each of a batch is one. */
  readonly calls: number
  /** How long a window is, in milliseconds: a second, or a day. The first begins with the first request. @default 1_000 */
  readonly windowMs?: number
  /** How those over the limit are refused. */
  readonly rejection: Script
  readonly good?: Script
}

/** A server that takes so many calls in a window, as providers count them, and refuses whatever goes beyond. */
export function rateLimit({ calls, windowMs = 1_000, rejection, good = answering() }: RateLimitOptions): Script {
  let endsAt = 0
  let left = 0
  return (seen, ...rest) => {
    const now = performance.now()
    if (now >= endsAt) {
      endsAt = now + windowMs
      left = calls
    }
    left -= callsOf(seen).length
    ;(left >= 0 ? good : rejection)(seen, ...rest)
  }
}
