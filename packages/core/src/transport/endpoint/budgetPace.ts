import { now } from '../../clock/now.ts'
import { isKeyrailError } from '../../failure/keyrailError.ts'
import type { KeyrailError } from '../../failure/keyrailError.ts'
import { compilePhrase, toWords, wordsContain } from '../../failure/phrase.ts'
import { createTokenBucket } from './tokenBucket.ts'

/** The reasons for which an endpoint rejects calls for a while, independent of the call. */
export type Rejection = 'throttled' | 'quota'

/** How fast calls may be sent to an endpoint: at most at the configured rate, and slower after the endpoint rejected calls as too many. */
export interface Pace {
  /** Units per second now; `Infinity` without a limit. */
  readonly rate: () => number
  /** How long until a call of this cost may be sent, in milliseconds, after others of the cost `ahead`. An estimate during a trial. */
  readonly waitMs: (cost: number, time: number, ahead?: number) => number
  /** How much longer the pause lasts, in milliseconds, and the reason. */
  readonly pause: (time: number) => { readonly ms: number; readonly kind: Rejection }
  /** True while one call is in flight as a trial after a pause. No other call may be sent. */
  readonly trying: () => boolean
  /** Counts a call that is sent. Returns whether it is the trial. */
  readonly send: (cost: number, time: number) => boolean
  /** Learns from the outcome of a call: its failure, or undefined. Returns whether a pause starts. */
  readonly hear: (sentAt: number, wasTrial: boolean, failure?: unknown) => boolean
  /** Ends a call without a response of the endpoint: it was cancelled, or it was not sent and `refund` returns its cost. */
  readonly forget: (wasTrial: boolean, refund: number) => void
}

/** The pause after a rejection that names none. It doubles with each rejection in a row, up to 64 times. */
const PAUSE_MS = 250
/** The longest pause that a server can request by rejecting calls for their rate. */
const MAX_PAUSE_MS = 300_000
/** The pause after a used-up quota without a known reset. It doubles with each rejection in a row, up to an hour. */
const QUOTA_MS = 300_000
/** The longest quota period: a month. */
const MAX_QUOTA_MS = 31 * 86_400_000

/** Whether a message speaks of a limit per day. Called for a rejection by a quota only, so the phrases need not be cached. */
const mentionsDay = (message: string): boolean => {
  const words = toWords(message, '')
  return ['daily', 'per day'].some((phrase) => wordsContain(words, compilePhrase(phrase)))
}

/** How long a used-up quota lasts: until the reset that the service names, or until the end of the UTC day if the limit is per day. */
function quotaMs({ rpcError, message, retryAfterMs }: KeyrailError, strikes: number): number {
  const { resetAt, window } = Object(rpcError?.data) as { readonly resetAt?: unknown; readonly window?: unknown }
  const date = Date.now()
  const named =
    (typeof resetAt === 'number' ? resetAt * (resetAt < 1e11 ? 1_000 : 1) : Date.parse(String(resetAt))) - date
  if (named > 0) return Math.min(named, MAX_QUOTA_MS)
  if (retryAfterMs) return retryAfterMs
  if (window === 'day' || mentionsDay(message)) return 86_400_000 - (date % 86_400_000)
  return Math.min(QUOTA_MS * 2 ** strikes, 3_600_000)
}

/**
 * Controls the rate of one endpoint: additive increase, multiplicative decrease, as TCP does.
 *
 * A rejection as too many halves the rate, once for all calls that were in flight then, and pauses all calls for as long as the endpoint asks, or
 * for a time that grows. Then one call is sent as a trial. The others follow when it gets a response, and each second of responses increases the rate
 * by a fiftieth. If no rate was configured, the rate of the second before the rejection is used.
 *
 * @param limit - The configured rate in units per second; `Infinity` for none.
 * @param burstMs - How much may be sent at once: as many units as the rate allows in this time.
 */
export function createPace(limit: number, burstMs: number): Pace {
  const bucket = createTokenBucket(limit, burstMs)
  let ceiling = limit
  let pausedUntil = -Infinity
  let kind: Rejection = 'throttled'
  let trial: 'none' | 'due' | 'out' = 'none'
  let strikes = 0
  let rejectedAt = -Infinity
  let grownAt = 0
  // Units sent in this second and in the one before: the rate at a rejection.
  let second = 0
  let sent = 0
  let sentBefore = 0

  const pauseMs = (): number => PAUSE_MS * 2 ** Math.min(strikes, 6)

  const slow = (time: number): void => {
    // At least four per second: a rejection at a lower rate had another cause.
    if (ceiling === Infinity) ceiling = Math.max(4, sent, sentBefore)
    // At least a 32nd, so that the rate recovers within a useful time.
    bucket.rate = Math.max(Math.min(bucket.rate, ceiling) / 2, ceiling / 32)
    grownAt = time
  }

  const grow = (): void => {
    if (bucket.rate >= ceiling) return
    const time = now()
    // Idle time proves nothing, so at most one second counts.
    bucket.rate += (ceiling / 50) * Math.min(1, (time - grownAt) / 1_000)
    grownAt = time
    if (bucket.rate >= ceiling) bucket.rate = ceiling = limit
  }

  return {
    rate: () => bucket.rate,
    waitMs: (cost, time, ahead) =>
      Math.max(pausedUntil - time, bucket.waitMs(cost, time, ahead), trial === 'out' ? pauseMs() : 0),
    pause: (time) => ({ ms: Math.max(0, pausedUntil - time), kind }),
    trying: () => trial === 'out',
    send: (cost, time) => {
      bucket.take(cost, time)
      const current = Math.floor(time / 1_000)
      if (current !== second) {
        sentBefore = current === second + 1 ? sent : 0
        sent = 0
        second = current
      }
      sent += cost
      if (trial !== 'due') return false
      trial = 'out'
      return true
    },
    hear: (sentAt, wasTrial, failure) => {
      if (wasTrial) trial = 'none'
      // A call that was sent before the last rejection shows nothing new, unless it asks for a longer pause.
      const isNew = sentAt >= rejectedAt
      if (failure === undefined && isNew) {
        strikes = 0
        grow()
      }
      if (!isKeyrailError(failure) || failure.source !== 'service') return false
      const throttled = failure.kind === 'throttled'
      if (!throttled && failure.kind !== 'quota') return false
      if (throttled && !isNew && !failure.retryAfterMs) return false
      const time = now()
      const ms = throttled ? Math.min(failure.retryAfterMs ?? pauseMs(), MAX_PAUSE_MS) : quotaMs(failure, strikes)
      if (isNew) {
        if (throttled) slow(time)
        rejectedAt = time
        strikes++
      }
      if (trial === 'none') trial = 'due'
      if (time + ms <= pausedUntil) return false
      pausedUntil = time + ms
      kind = throttled ? 'throttled' : 'quota'
      return true
    },
    forget: (wasTrial, refund) => {
      if (wasTrial) trial = 'due'
      if (refund) bucket.take(-refund, now())
    },
  }
}
