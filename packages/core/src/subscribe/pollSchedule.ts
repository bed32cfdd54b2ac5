/** When to poll again. Each method returns a delay in milliseconds. */
export interface PollSchedule {
  /** After a poll that found new blocks. `timestamps` are those of the newest blocks in seconds, oldest first. */
  readonly afterNews: (timestamps: readonly number[]) => number
  /** After a poll that found nothing new. */
  readonly afterNothing: () => number
  /** After a failed poll: how many failed in a row, and how long the server asks to wait, in milliseconds. */
  readonly afterFailure: (failures: number, retryAfterMs?: number) => number
  /** Call this when a block is due now: the next delays are short. */
  readonly expectBlock: () => void
  /** The measured time between two blocks, in milliseconds. */
  readonly blockMs: () => number
}

const shortestMs = 250
const longestMs = 12_000
/** The longest delay while a block is due. */
const longestStepMs = 4_000

/** Options of {@link createPollSchedule}, in milliseconds. */
export interface PollScheduleOptions {
  /** A fixed interval to use instead. */
  readonly fixedMs?: number | undefined
  /** The delay after the first failure in a row. It doubles with each. @default `fixedMs`, or 500 */
  readonly firstBackoffMs?: number | undefined
  /** @default 30_000 */
  readonly longestBackoffMs?: number | undefined
}

/**
 * Schedules polls. It waits for 90 % of the block time, then polls in short steps, each 50 % longer than the one before. (Polling at a
 * fixed third of the block time costs three polls a block and finds each block a sixth of a block time late; this costs about two.)
 */
export function createPollSchedule(options: PollScheduleOptions = {}): PollSchedule {
  const { fixedMs, firstBackoffMs = fixedMs ?? 500, longestBackoffMs = 30_000 } = options
  let blockMs = 2_000
  let quiet = 0
  const bounded = (ms: number): number => Math.min(Math.max(ms, shortestMs), longestMs)
  return {
    afterNews: (timestamps) => {
      quiet = 0
      const gaps = timestamps.slice(1).map((timestamp, index) => timestamp - (timestamps[index] as number))
      // Timestamps are in whole seconds, so for blocks faster than one a second only the mean is meaningful. For slower blocks it is the
      // shortest gap: slots stay empty, and a chain that mines on demand may pause for any time.
      const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
      if (gaps.length > 0) blockMs = bounded(1_000 * (mean < 1 ? mean : Math.min(...gaps)))
      return fixedMs ?? blockMs * 0.9
    },
    afterNothing: () => fixedMs ?? Math.min(bounded((blockMs / 8) * 1.5 ** quiet++), longestStepMs),
    afterFailure: (failures, retryAfterMs = 0) =>
      Math.max(Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs), fixedMs ?? 0, retryAfterMs),
    expectBlock: () => {
      quiet = 0
    },
    blockMs: () => blockMs,
  }
}
