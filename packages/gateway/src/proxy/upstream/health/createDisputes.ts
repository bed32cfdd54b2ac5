import { monotonicClock } from '../../../lib/clock.ts'

/** How often the others of a network outvoted an upstream. */
export interface Disputes {
  /** Call this when the others agreed on another response than its own. */
  readonly add: () => void
  /** Whether it was outvoted often lately: others are preferred. */
  readonly isDemoted: () => boolean
  /** How often it was outvoted. */
  readonly count: () => number
}

const windowMs = 300_000
const demotedAfter = 3
const demotedMs = 600_000

/**
 * Creates the count of an upstream. After it was outvoted three times in five minutes, it is demoted for ten.
 * @param options.onDemote - Called when it is demoted.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createDisputes = ({
  onDemote,
  now = monotonicClock(),
}: { onDemote?: () => void; now?: () => number } = {}): Disputes => {
  let count = 0
  let recent: readonly number[] = []
  let demotedUntil = -Infinity
  return {
    add: () => {
      const time = now()
      count += 1
      recent = [...recent.filter((at) => time - at < windowMs), time].slice(-demotedAfter)
      if (recent.length < demotedAfter) return
      if (time >= demotedUntil) onDemote?.()
      demotedUntil = time + demotedMs
      recent = []
    },
    isDemoted: () => demotedUntil !== -Infinity && now() < demotedUntil,
    count: () => count,
  }
}
