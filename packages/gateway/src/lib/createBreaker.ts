import { monotonicClock } from './clock.ts'

/** A call that was sent to an upstream. Pass it back when the call ends. */
export interface SentCall {
  /** How many times the breaker had opened or closed when the call was sent. */
  readonly period: number
  /** For a trial call: how many trials had failed before it. Otherwise `undefined`. */
  readonly trial: number | undefined
  /** Counts a call as one failure, even if it is reported once when it is late and again when it ends. */
  hasFailed: boolean
}

/** A circuit breaker: decides from an upstream's recent calls whether to prefer another upstream. */
export interface Breaker {
  readonly closed: () => boolean
  /** Whether the breaker has been open for long enough to send a trial call. */
  readonly trialDue: () => boolean
  /**
   * Call this for each call that is sent.
   * @param mayBeTrial - Whether the call may be the trial if one is due.
   */
  readonly sent: (mayBeTrial: boolean) => SentCall
  /** Call this when the call got a valid response. */
  readonly succeeded: (call: SentCall) => void
  /** Call this when the call failed. `ownerId` is the user who made it. */
  readonly failed: (call: SentCall, ownerId: string) => void
}

/** The last 20 calls, one bit each. */
const windowBits = 0xf_ffff
const lastFive = 0x1f
/** Failures among the last 20 calls. */
const failuresToOpen = 10
/** How many failures of one owner count, out of five and out of ten: at most two in five. */
const countedOfFive = 2
const countedOfTen = 4
const firstWaitMs = 1_000
const longestWaitMs = 30_000

const countBits = (word: number): number => {
  let count = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/** Counts failures, at most `most` of each owner. */
const countCapped = (most: number, owners: readonly string[]): number => {
  const counts = new Map<string, number>()
  for (const owner of owners) counts.set(owner, Math.min((counts.get(owner) ?? 0) + 1, most))
  let sum = 0
  for (const count of counts.values()) sum += count
  return sum
}

/**
 * Creates a circuit breaker. It opens after five failures in a row, or ten among the last twenty calls. While it is open it allows one
 * trial call after one second, then after two seconds, and so on up to thirty. One success closes it.
 *
 * Only a failed trial makes the wait longer. Calls that were in flight when the breaker opened or closed say nothing about the upstream
 * now, so they are ignored: otherwise a single blip under load would double the wait once for each call.
 *
 * One user can cause failures with calls that are too expensive for any node. So failures open the breaker only if they come from three or
 * more users, and the wait gets longer only if the last two failed trials were made by different users. Otherwise the breaker calls
 * `onDoubt`.
 *
 * The SDK's `breaker` has other rules on purpose: all its calls are one program's, so whose they are says nothing, and it sends no requests of its own.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 * @param options.onChange - Called with `true` when the breaker closes and with `false` when it opens.
 * @param options.onDoubt - Called when failures may be one user's fault. Send the upstream a cheap request and call `confirm` with whether it
 * succeeded. `onDoubt` may be called again before that. `confirm` does nothing if the breaker has opened or closed since.
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
  /** The users whose calls failed last, the newest at the end. Has at least as many entries as `recent` has failures. */
  let owners: string[] = []
  let open = false
  /** How many times the breaker has opened or closed. */
  let period = 0
  let waitMs = firstWaitMs
  let trialAt = 0
  let failedTrials = 0
  /** The user whose trial failed last. */
  let lastTrialOwner: string | undefined

  const change = (toOpen: boolean): void => {
    open = toOpen
    period += 1
    recent = 0
    waitMs = firstWaitMs
    trialAt = now() + waitMs
    lastTrialOwner = undefined
    onChange?.(!open)
  }
  const waitLonger = (): void => {
    waitMs = Math.min(waitMs * 2, longestWaitMs)
    trialAt = now() + waitMs
  }
  const checkUpstream = (): void => {
    const since = period
    onDoubt?.((works) => {
      if (since !== period) return
      if (!works && open) waitLonger()
      else if (!works) change(true)
      // The upstream works: the failures were caused by the calls.
      else if (!open) recent = 0
    })
  }
  const trialDue = (): boolean => open && now() >= trialAt

  return {
    closed: () => !open,
    trialDue,
    sent: (mayBeTrial) => {
      const isTrial = mayBeTrial && trialDue()
      // If the trial never ends, another trial is due after the same time.
      if (isTrial) trialAt = now() + waitMs
      return { period, trial: isTrial ? failedTrials : undefined, hasFailed: false }
    },
    succeeded: (call) => {
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
        const isOtherOwner = lastTrialOwner !== ownerId
        lastTrialOwner = ownerId
        if (isOtherOwner) waitLonger()
        else checkUpstream()
        return
      }
      recent = ((recent << 1) | 1) & windowBits
      const failures = countBits(recent)
      owners = [...owners.slice(1 - failures), ownerId].slice(-failures)
      const fiveInRow = (recent & lastFive) === lastFive
      if (!fiveInRow && failures < failuresToOpen) return
      const confirmed =
        (fiveInRow && countCapped(countedOfFive, owners.slice(-5)) === 5) ||
        countCapped(countedOfTen, owners) >= failuresToOpen
      if (confirmed) change(true)
      else checkUpstream()
    },
  }
}
