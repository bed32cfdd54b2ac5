/** How many calls a batch to one endpoint may hold: the configured number, or fewer if the endpoint accepts fewer. */
export interface BatchCap {
  readonly calls: () => number
  /** The endpoint named its limit, which is never exceeded again. */
  readonly setLimit: (calls: number) => void
  /** The endpoint rejected a batch of this size without naming a limit: half of it is used for now. */
  readonly rejected: (size: number) => void
  /** More calls were ready than fit into one batch. */
  readonly exceeded: () => void
}

/** How many batches are split before a larger one is tried. Doubles each time the larger one is rejected. */
const SPLITS_BEFORE_TRIAL = 8
const MAX_SPLITS_BEFORE_TRIAL = 8_192

/**
 * Creates the cap of one endpoint. A guessed cap grows back, because a rejection without a number may have been temporary: otherwise a few of
 * them would turn batching off until the program restarts.
 *
 * @param most - The configured cap.
 */
export function createBatchCap(most: number): BatchCap {
  let limit = most
  let guess = Infinity
  let splits = 0
  let splitsBeforeTrial = SPLITS_BEFORE_TRIAL / 2
  return {
    calls: () => Math.min(limit, guess),
    setLimit: (calls) => {
      limit = Math.min(limit, calls)
    },
    rejected: (size) => {
      guess = Math.min(guess, Math.max(1, size >> 1))
      splits = 0
      splitsBeforeTrial = Math.min(splitsBeforeTrial * 2, MAX_SPLITS_BEFORE_TRIAL)
    },
    exceeded: () => {
      if (guess >= limit || ++splits < splitsBeforeTrial) return
      guess *= 2
      splits = 0
    },
  }
}
