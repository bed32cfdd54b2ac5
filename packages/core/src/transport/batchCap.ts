/** How many calls a batch may hold at one endpoint, by what it was given and what the endpoint turned out to take. */
export interface BatchCap {
  readonly calls: () => number
  /** The endpoint said so: it is never exceeded again. */
  readonly said: (calls: number) => void
  /** A batch of so many was refused, and nobody said how many would be taken: half of them, for now. */
  readonly refused: (size: number) => void
  /** More calls than that would have gone in one. */
  readonly exceeded: () => void
}

/** So many batches are split before a larger one is tried; each time it is refused, twice as many. */
const SPLITS_BEFORE_TRIAL = 8
const MAX_SPLITS_BEFORE_TRIAL = 8_192

/**
 * Begins with a cap. One that is guessed grows back, because what was refused once, in unclear words, may have been a hiccup: without that, a few
 * of those would end joining for the life of the program.
 *
 * @param most - The cap that was configured.
 */
export function createBatchCap(most: number): BatchCap {
  let limit = most
  let guess = Infinity
  let splits = 0
  let splitsBeforeTrial = SPLITS_BEFORE_TRIAL / 2
  return {
    calls: () => Math.min(limit, guess),
    said: (calls) => {
      limit = Math.min(limit, calls)
    },
    refused: (size) => {
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
