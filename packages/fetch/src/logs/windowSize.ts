import type { RangeHint } from './parseRangeHint.ts'

/** How many blocks to ask for at once: learned from what is served and what is refused. */
export interface WindowSize {
  /** How many blocks the next request may span. */
  readonly current: () => number
  /** Whether this client was ever served, so that the size is more than a guess. */
  readonly measured: () => boolean
  /** Learns from a request that was served. */
  readonly succeeded: (blocks: number, logs: number) => void
  /**
   * Learns from a request that was refused.
   * @param blocks - How many it spanned: 2 or more.
   * @param span - How many would be taken, as the refusal says; NaN where it does not.
   * @param hint - The cap that it names.
   */
  readonly rejected: (blocks: number, span: number, hint?: RangeHint) => void
}

interface Learned {
  /** No request may span more: the provider named this number. */
  cap: number
  /** The size that was served last. */
  size: number
  tried: boolean
}

const firstSize = 1_000
const largestSize = 100_000
/** A window that held more logs is followed by a smaller one: an answer should fit well into memory. */
const manyLogs = 10_000
/** Growth that proves too large is tried again after ever more windows, up to this many: at worst one request in 33 is refused. */
const mostPatience = 32

/** By transport, so that a second iteration starts with what the first learned. */
const known = new WeakMap<object, Learned>()

/**
 * Finds a size for the windows of a range: as large as is served, doubling while it is, never above a cap that the provider named.
 *
 * @param owner - Whose cap it is: the same object for everything on one transport.
 * @param maxBlocks - The caller's own limit. @default 100_000
 */
export function createWindowSize(owner: object, maxBlocks: number = largestSize): WindowSize {
  const learned = known.get(owner) ?? { cap: Infinity, size: firstSize, tried: false }
  known.set(owner, learned)
  const bounded = (blocks: number): number => Math.max(1, Math.min(Math.floor(blocks), maxBlocks, learned.cap))
  let size = bounded(learned.size)
  let patience = 1
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
        if (justGrown) patience = Math.max(1, patience / 2)
        justGrown = false
        // Only while the doubled window would still hold few enough logs.
        if (logs * 2 <= manyLogs && ++streak >= patience) {
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
      patience = Math.min(patience * 2, mostPatience)
    },
  }
}
