/** When to read the head again. Delays are in milliseconds. */
export interface PollSchedule {
  /** Gets the delay after new blocks. @param timestamps - Those of the newest blocks in seconds, oldest first. */
  readonly afterNews: (timestamps: readonly number[]) => number
  /** Gets the delay after a read that found nothing new. */
  readonly afterNothing: () => number
  /** Gets the delay after so many failed reads in a row. */
  readonly afterFailure: (failures: number) => number
  /** Call this when a block is due now: the next delays are short. */
  readonly expectBlock: () => void
  /** The measured time between two blocks, in milliseconds. */
  readonly blockMs: () => number
}

const minMs = 250
const maxBlockMs = 12_000
/** The longest delay while a block is due. */
const maxStepMs = 4_000
const defaultBlockMs = 2_000

/**
 * Creates a schedule. It waits for 90 % of the block time, then in short steps, each 50 % longer than the one before: about two reads for each
 * block, which finds it sooner than reads at a fixed interval do.
 */
export const createPollSchedule = (): PollSchedule => {
  let blockMs = defaultBlockMs
  let quiet = 0
  const bound = (ms: number): number => Math.min(Math.max(ms, minMs), maxBlockMs)
  return {
    afterNews: (timestamps) => {
      quiet = 0
      const gaps = timestamps.slice(1).map((timestamp, index) => timestamp - (timestamps[index] as number))
      // Timestamps are in whole seconds, so for blocks faster than one a second only the mean is meaningful. For slower blocks it is the
      // shortest gap: slots stay empty, and a chain that mines on demand may pause for any time.
      const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
      if (gaps.length > 0) blockMs = bound(1_000 * (mean < 1 ? mean : Math.min(...gaps)))
      return blockMs * 0.9
    },
    afterNothing: () => Math.min(bound((blockMs / 8) * 1.5 ** quiet++), maxStepMs),
    afterFailure: (failures) => Math.min(minMs * 2 ** (failures - 1), maxStepMs),
    expectBlock: () => {
      quiet = 0
    },
    blockMs: () => blockMs,
  }
}
