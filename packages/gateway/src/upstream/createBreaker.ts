/** Whether an upstream's own recent calls speak against asking it. */
export interface Breaker {
  /** Nothing speaks against it. */
  readonly closed: () => boolean
  /** Whether one call may find out if it works again. Says yes once for each wait. */
  readonly mayTry: () => boolean
  /** Told how each exchange ended: with an answer that can be believed, or without one. */
  readonly report: (answered: boolean) => void
}

/** The last calls that are looked at, one bit each. */
const windowBits = 0xf_ffff
const lastFive = 0x1f
/** Of the last 20. */
const failuresToOpen = 10
const firstWaitMs = 1_000
const longestWaitMs = 30_000

const bitsOf = (word: number): number => {
  let count = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/**
 * Makes a breaker: it opens on five failures in a row, or on ten among the last twenty calls, and lets one call through after a
 * second, then after two, up to thirty. One good answer closes it.
 * @param options.now - Milliseconds of a clock that never goes back. @default performance.now
 * @param options.onChange - Told when it opens and when it closes.
 */
export const createBreaker = (options: { now?: () => number; onChange?: (closed: boolean) => void } = {}): Breaker => {
  const { now = () => performance.now(), onChange } = options
  let recent = 0
  let open = false
  let waitMs = firstWaitMs
  let tryAt = 0
  return {
    closed: () => !open,
    mayTry: () => {
      if (!open || now() < tryAt) return false
      tryAt = now() + waitMs
      return true
    },
    report: (answered) => {
      if (answered) {
        recent = (recent << 1) & windowBits
        if (!open) return
        open = false
        recent = 0
        waitMs = firstWaitMs
        onChange?.(true)
        return
      }
      recent = ((recent << 1) | 1) & windowBits
      if (open) {
        waitMs = Math.min(waitMs * 2, longestWaitMs)
        tryAt = now() + waitMs
      } else if ((recent & lastFive) === lastFive || bitsOf(recent) >= failuresToOpen) {
        open = true
        tryAt = now() + waitMs
        onChange?.(false)
      }
    },
  }
}
