import { now } from '../clock/now.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { KeyrailError } from '../failure/keyrailError.ts'
import { compilePhrase, toWords, wordsContain } from '../failure/phrase.ts'
import { createTokenBucket } from './tokenBucket.ts'

/** What an endpoint may refuse a call for that does not lie in the call. */
export type Rejection = 'throttled' | 'quota'

/** How fast an endpoint may be asked now: no faster than was configured, and slower where it says that this is too much. */
export interface Pace {
  /** Units per second now; `Infinity` where nothing limits. */
  readonly rate: () => number
  /** How long until a call of this cost may go, in milliseconds, after others of the cost `ahead`: an estimate while a trial is out. */
  readonly waitMs: (cost: number, time: number, ahead?: number) => number
  /** How much longer the endpoint wants not to be asked, in milliseconds, and why. */
  readonly pause: (time: number) => { readonly ms: number; readonly kind: Rejection }
  /** True while one call is out to see whether the pause was long enough: no other may go. */
  readonly trying: () => boolean
  /** A call goes. Returns whether it is the trial. */
  readonly send: (cost: number, time: number) => boolean
  /** A call has come back, with a failure or none. Returns whether a pause begins. */
  readonly hear: (sentAt: number, wasTrial: boolean, failure?: unknown) => boolean
  /** A call has come back without a word of the endpoint: it was ended from above, or never went out, and then its cost comes back. */
  readonly forget: (wasTrial: boolean, refund: number) => void
}

/** The wait after the first refusal that names none; it doubles with each refusal in a row, to at most 64 times as much. */
const PAUSE_MS = 250
/** No server can close an endpoint for longer than this by refusing for speed. */
const MAX_PAUSE_MS = 300_000
/** When a used-up quota of which no reset is known is looked at again; doubles likewise, to at most an hour. */
const QUOTA_MS = 300_000
/** The longest quota period there is: a month. */
const MAX_QUOTA_MS = 31 * 86_400_000

/** Whether a message speaks of a limit per day. Called for a rejection by a quota only, so the phrases need not be cached. */
const speaksOfDay = (message: string): boolean => {
  const words = toWords(message, '')
  return ['daily', 'per day'].some((phrase) => wordsContain(words, compilePhrase(phrase)))
}

/** How long a used-up quota lasts: until the reset that the service names, or the end of the UTC day where it speaks of a day. */
function quotaMs({ rpcError, message, retryAfterMs }: KeyrailError, strikes: number): number {
  const { resetAt, window } = Object(rpcError?.data) as { readonly resetAt?: unknown; readonly window?: unknown }
  const date = Date.now()
  const named =
    (typeof resetAt === 'number' ? resetAt * (resetAt < 1e11 ? 1_000 : 1) : Date.parse(String(resetAt))) - date
  if (named > 0) return Math.min(named, MAX_QUOTA_MS)
  if (retryAfterMs) return Math.min(retryAfterMs, MAX_QUOTA_MS)
  if (window === 'day' || speaksOfDay(message)) return 86_400_000 - (date % 86_400_000)
  return Math.min(QUOTA_MS * 2 ** strikes, 3_600_000)
}

/**
 * Keeps the pace of one endpoint: additive increase, multiplicative decrease, as TCP does.
 *
 * A refusal for speed halves the rate, once for all calls that were on their way then, and stops everything for as long as the endpoint asks,
 * or for a time that grows. Then one call goes alone: only when it is answered do the others follow, and with each second of answers the
 * rate grows by a fiftieth. Where no rate was configured, what was being sent in the second before the refusal is the measure.
 *
 * @param limit - The configured rate in units per second; `Infinity` for none.
 * @param burstMs - How much may go at once: what the rate gives in this time.
 */
export function createPace(limit: number, burstMs: number): Pace {
  const bucket = createTokenBucket(limit, burstMs)
  let ceiling = limit
  let pausedUntil = -Infinity
  let kind: Rejection = 'throttled'
  let trial: 'none' | 'due' | 'out' = 'none'
  let strikes = 0
  let refusedAt = -Infinity
  let grownAt = 0
  // What went in this second and in the one before, to know how fast "too fast" was.
  let second = 0
  let sent = 0
  let sentBefore = 0

  const pauseMs = (): number => PAUSE_MS * 2 ** Math.min(strikes, 6)

  const slow = (time: number): void => {
    // Even a refused trickle may go on at four a second: less than that is not what the refusal was about.
    if (ceiling === Infinity) ceiling = Math.max(4, sent, sentBefore)
    // Never to nothing: then it could not recover within a time that anybody waits for.
    bucket.rate = Math.max(Math.min(bucket.rate, ceiling) / 2, ceiling / 32)
    grownAt = time
  }

  const grow = (): void => {
    if (bucket.rate >= ceiling) return
    const time = now()
    // An idle time proves nothing, so at most one second of it counts.
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
      // What went before the last refusal says nothing new, unless it asks for a longer pause.
      const news = sentAt >= refusedAt
      if (failure === undefined && news) {
        strikes = 0
        grow()
      }
      if (!isKeyrailError(failure) || failure.source !== 'service') return false
      const throttled = failure.kind === 'throttled'
      if (!throttled && failure.kind !== 'quota') return false
      if (throttled && !news && !failure.retryAfterMs) return false
      const time = now()
      const ms = throttled ? Math.min(failure.retryAfterMs ?? pauseMs(), MAX_PAUSE_MS) : quotaMs(failure, strikes)
      if (news) {
        if (throttled) slow(time)
        refusedAt = time
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
