import type { CallOutcome } from './callOutcome.ts'
import { monotonicClock } from '../../../lib/clock.ts'

/** Pauses an upstream that says it got too many requests. */
export interface Backoff {
  /** Whether the upstream should be spared. It is used if no other upstream is left. */
  readonly isPaused: () => boolean
  /** Learns from how an attempt ended. */
  readonly learn: (outcome: Pick<CallOutcome, 'kind' | 'retryAfterMs'>) => void
}

/** `quota`: the allowance of a day or a month is used up, so seconds do not help. */
const quotaPause = { firstMs: 60_000, longestMs: 600_000 }
const throttledPause = { firstMs: 1_000, longestMs: 60_000 }
/** A node could request a day by mistake. */
const longestRetryAfterMs = 3_600_000

const getPauseMs = (kind: CallOutcome['kind'], pauses: number): number => {
  const { firstMs, longestMs } = kind === 'quota' ? quotaPause : throttledPause
  return Math.min(firstMs * 2 ** pauses, longestMs)
}

/**
 * Creates the backoff of an upstream. A `throttled` or `quota` outcome pauses it for as long as the node requests, or for a second (`quota`: a
 * minute). Each pause that directly follows another one is twice as long, up to a minute (`quota`: ten minutes). A result after a pause
 * starts over. A node that is `unavailable` is only paused if it requests a pause.
 *
 * The circuit breaker is for nodes that fail. A node that throttles works, and other callers' failures say nothing about it.
 * @param options.onPause - Called when a pause starts after the upstream worked.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createBackoff = ({
  onPause,
  now = monotonicClock(),
}: { onPause?: () => void; now?: () => number } = {}): Backoff => {
  let pausedUntil = -Infinity
  let pauses = 0
  return {
    isPaused: () => pausedUntil !== -Infinity && now() < pausedUntil,
    learn: ({ kind, retryAfterMs }) => {
      if (kind === 'result' && pauses > 0 && now() >= pausedUntil) {
        pauses = 0
        pausedUntil = -Infinity
      }
      const isPause = kind === 'throttled' || kind === 'quota' || (kind === 'unavailable' && retryAfterMs !== undefined)
      if (!isPause) return
      const time = now()
      const isNew = time >= pausedUntil
      // Calls that were in flight when the pause started only extend it if the node requests it.
      if (!isNew && retryAfterMs === undefined) return
      const pauseMs = Math.min(retryAfterMs ?? getPauseMs(kind, pauses), longestRetryAfterMs)
      pausedUntil = Math.max(pausedUntil, time + pauseMs)
      if (!isNew) return
      pauses += 1
      if (pauses === 1) onPause?.()
    },
  }
}
