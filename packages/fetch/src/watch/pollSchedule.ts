/** When to look at the chain again. */
export interface PollSchedule {
  /** After a look that found new blocks. `timestamps` of the newest blocks in seconds, oldest first. */
  readonly afterNews: (timestamps: readonly bigint[]) => number
  /** After a look that found nothing new. */
  readonly afterNothing: () => number
  /** After a look that failed, by how many in a row did and how long the server asked to wait. */
  readonly afterFailure: (failures: number, retryAfterMs?: number) => number
  /** The time between two blocks, as it was learned. */
  readonly blockMs: () => number
}

const leastMs = 250
const mostMs = 12_000
/** The longest pause while a block is due. */
const quietMs = 4_000
const mostTroubleMs = 30_000

/**
 * Sets the pace of polling. It sleeps through most of the time in which no block is to be expected, then looks in short steps, each half
 * as long again as the one before. (Looking at a fixed third of the block time costs three looks a block and finds each a sixth of a
 * block time late; this costs about two.)
 *
 * @param fixedMs - A fixed interval in its place.
 */
export function createPollSchedule(fixedMs?: number): PollSchedule {
  let blockMs = 2_000
  let quiet = 0
  const bounded = (ms: number): number => Math.min(Math.max(ms, leastMs), mostMs)
  return {
    afterNews: (timestamps) => {
      quiet = 0
      const gaps = timestamps.slice(1).map((timestamp, index) => Number(timestamp - (timestamps[index] as bigint)))
      // Timestamps are whole seconds: of blocks that come faster, only the mean is telling. Of slower ones it is the least,
      // because slots stay empty, and because a chain that mines on demand pauses for as long as it likes.
      const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
      if (gaps.length > 0) blockMs = bounded(1_000 * (mean < 1 ? mean : Math.min(...gaps)))
      return fixedMs ?? blockMs * 0.9
    },
    afterNothing: () => fixedMs ?? Math.min(bounded((blockMs / 8) * 1.5 ** quiet++), quietMs),
    afterFailure: (failures, retryAfterMs = 0) =>
      Math.max(Math.min((fixedMs ?? 500) * 2 ** (failures - 1), mostTroubleMs), fixedMs ?? 0, retryAfterMs),
    blockMs: () => blockMs,
  }
}
