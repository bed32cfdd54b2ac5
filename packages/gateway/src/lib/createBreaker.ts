import { monotonicClock } from './clock.ts'

/** A call that was sent to an upstream. Pass it back when the call ends. */
export interface SentCall {
  /** How often the breaker had opened or closed when the call was sent. */
  readonly period: number
  /** Of a trial: how many trials had failed before it. Every other call has none. */
  readonly trial: number | undefined
  /** A call counts as one failure, even if it is reported when it is late and again when it ends. */
  hasFailed: boolean
}

/** Decides from an upstream's recent calls whether to prefer another upstream. */
export interface Breaker {
  readonly closed: () => boolean
  /** Whether it is open and has been for long enough to send one call as a trial. */
  readonly trialDue: () => boolean
  /**
   * Call this for every call that is sent.
   * @param mayBeTrial - The call is the trial if one is due.
   */
  readonly sent: (mayBeTrial: boolean) => SentCall
  /** Call this when the call got a response that can be trusted. */
  readonly answered: (call: SentCall) => void
  /** Call this when it did not. `ownerId` is the user who made the call. */
  readonly failed: (call: SentCall, ownerId: string) => void
}

/** The last calls that are looked at, one bit each. */
const windowBits = 0xf_ffff
const lastFive = 0x1f
/** Of the last 20. */
const failuresToOpen = 10
/** How many of five failures, and of ten, count of one owner's calls: by itself no more than two in five. */
const countedOfFive = 2
const countedOfTen = 4
const firstWaitMs = 1_000
const longestWaitMs = 30_000

const bitsOf = (word: number): number => {
  let count = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/** How many failures there are, of each owner so many at most. */
const countUpTo = (most: number, owners: readonly string[]): number => {
  const counts = new Map<string, number>()
  for (const owner of owners) counts.set(owner, Math.min((counts.get(owner) ?? 0) + 1, most))
  let sum = 0
  for (const count of counts.values()) sum += count
  return sum
}

/**
 * Creates a circuit breaker. It opens after five failures in a row, or ten among the last twenty calls. While it is open it allows one
 * trial call after a second, then after two, up to thirty. One good response closes it.
 *
 * Only a trial that fails makes the wait longer. Calls that were in flight when the breaker opened or closed say nothing about the
 * upstream now, so they are ignored: otherwise one blip under load would double the wait with each of them.
 *
 * One user can cause failures with calls that are too expensive for any node. So failures open the breaker only if they come from three
 * users or more, and the wait gets longer only if the last two trials that failed were not both the same user's. Otherwise the breaker
 * is in doubt and calls `onDoubt`.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 * @param options.onChange - Called with `true` when it closes and with `false` when it opens.
 * @param options.onDoubt - Called when it is in doubt. Send the upstream a cheap request of your own and pass whether it worked to
 * `confirm`. It may be called again before that. A `confirm` from before the breaker opened or closed does nothing.
 */
export const createBreaker = ({
  now = monotonicClock(),
  onChange,
  onDoubt,
}: {
  now?: () => number
  onChange?: (closed: boolean) => void
  onDoubt?: (confirm: (works: boolean) => void) => void
} = {}): Breaker => {
  let recent = 0
  /** The users whose calls failed last, the newest at the end: at least as many as `recent` has failures. */
  let owners: string[] = []
  let open = false
  /** How often it has opened or closed. */
  let period = 0
  let waitMs = firstWaitMs
  let trialAt = 0
  let failedTrials = 0
  /** The user whose trial failed last. */
  let triedFor: string | undefined

  const change = (toOpen: boolean): void => {
    open = toOpen
    period += 1
    recent = 0
    waitMs = firstWaitMs
    trialAt = now() + waitMs
    triedFor = undefined
    onChange?.(!open)
  }
  const waitLonger = (): void => {
    waitMs = Math.min(waitMs * 2, longestWaitMs)
    trialAt = now() + waitMs
  }
  const doubt = (): void => {
    const since = period
    onDoubt?.((works) => {
      if (since !== period) return
      if (!works && open) waitLonger()
      else if (!works) change(true)
      // The calls failed for reasons of their own.
      else if (!open) recent = 0
    })
  }
  const trialDue = (): boolean => open && now() >= trialAt

  return {
    closed: () => !open,
    trialDue,
    sent: (mayBeTrial) => {
      const isTrial = mayBeTrial && trialDue()
      // If the trial never ends, another call may try after the same time.
      if (isTrial) trialAt = now() + waitMs
      return { period, trial: isTrial ? failedTrials : undefined, hasFailed: false }
    },
    answered: (call) => {
      if (call.period !== period) return
      if (open) change(false)
      else recent = (recent << 1) & windowBits
    },
    failed: (call, ownerId) => {
      if (call.period !== period || call.hasFailed) return
      call.hasFailed = true
      if (open) {
        // Several trials can be in flight if each takes longer than the wait. The first to fail counts for all of them.
        if (call.trial !== failedTrials) return
        failedTrials += 1
        const another = triedFor !== ownerId
        triedFor = ownerId
        if (another) waitLonger()
        else doubt()
        return
      }
      recent = ((recent << 1) | 1) & windowBits
      const failures = bitsOf(recent)
      owners = [...owners.slice(1 - failures), ownerId].slice(-failures)
      const five = (recent & lastFive) === lastFive
      if (!five && failures < failuresToOpen) return
      const confirmed =
        (five && countUpTo(countedOfFive, owners.slice(-5)) === 5) || countUpTo(countedOfTen, owners) >= failuresToOpen
      if (confirmed) change(true)
      else doubt()
    },
  }
}
