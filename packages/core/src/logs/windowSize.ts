import type { RangeHint } from '../failure/parseRangeHint.ts'

/** How many blocks to request at once, learned from successful and rejected requests. */
export interface WindowSize {
  /** How many blocks the next request may span. */
  readonly current: () => number
  /** Whether a request on this transport has succeeded, so that the size is more than a guess. */
  readonly measured: () => boolean
  /** Learns from a successful request. */
  readonly succeeded: (blocks: number, logs: number) => void
  /**
   * Learns from a rejected request.
   * @param blocks - How many blocks it spanned: 2 or more.
   * @param span - How many blocks the provider accepts according to the error; NaN if the error does not say.
   * @param hint - What else the error says, such as a cap.
   */
  readonly rejected: (blocks: number, span: number, hint?: RangeHint) => void
}

interface Learned {
  /** The provider's own limit, once an error has named it. */
  cap: number
  /** The size of the last successful request. */
  size: number
  tried: boolean
}

const firstSize = 1_000
const largestSize = 100_000
/** After a window with more logs, the next one is smaller: a response should fit well into memory. */
const manyLogs = 10_000
/** After a rejected growth, the next attempt waits for more windows each time, up to this many: at most one request in 33 is rejected. */
const mostAttemptGap = 32

/** By transport, so that a second iteration starts with what the first one learned. */
const known = new WeakMap<object, Learned>()

/**
 * Finds the window size for a range: it doubles while requests succeed, and never exceeds a cap that the provider has named.
 *
 * @param owner - The object that the learned limits belong to: the transport.
 * @param maxBlocks - The caller's own limit. @default 100_000
 */
export function createWindowSize(owner: object, maxBlocks: number = largestSize): WindowSize {
  const learned = known.get(owner) ?? { cap: Infinity, size: firstSize, tried: false }
  known.set(owner, learned)
  const bounded = (blocks: number): number => Math.max(1, Math.min(Math.floor(blocks), maxBlocks, learned.cap))
  let size = bounded(learned.size)
  let attemptGap = 1
  let streak = 0
  let justGrown = false

  return {
    current: () => bounded(size),
    measured: () => learned.tried,
    succeeded: (blocks, logs) => {
      learned.tried = true
      if (logs > manyLogs) {
        size = Math.min(size, bounded((blocks * manyLogs) / logs))
        streak = 0
      } else if (blocks >= size) {
        if (justGrown) attemptGap = Math.max(1, attemptGap / 2)
        justGrown = false
        // Only if the doubled window is still expected to contain few enough logs.
        if (logs * 2 <= manyLogs && ++streak >= attemptGap) {
          const grown = bounded(size * 2)
          justGrown = grown > size
          size = grown
          streak = 0
        }
      }
      learned.size = size
    },
    rejected: (blocks, span, hint) => {
      const { maxBlocks: cap } = hint ?? {}
      if (cap !== undefined) learned.cap = Math.min(learned.cap, cap)
      const smaller = bounded(span < blocks ? span : blocks / 2)
      if (smaller >= size) return
      size = smaller
      streak = 0
      justGrown = false
      attemptGap = Math.min(attemptGap * 2, mostAttemptGap)
    },
  }
}
