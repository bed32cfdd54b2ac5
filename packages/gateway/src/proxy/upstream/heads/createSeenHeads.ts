import { monotonicClock } from '../../../lib/clock.ts'
import { createRecentMap } from '../../../lib/createRecentMap.ts'

/** The newest block that the callers of each key have got from this instance. */
export interface SeenHeads {
  /** The number of that block; `undefined` if none is known. */
  readonly get: (keyId: string) => number | undefined
  /**
   * Records the head in a node's response.
   * @returns The head that the caller may get: the recorded one, or the one it got before if that is higher and not forgotten.
   */
  readonly record: (keyId: string, head: number) => number
}

interface SeenHead {
  block: number
  /** When a node last responded with this block or a higher one. */
  at: number
}

/** A chain that is below a head for so long has lost that block: a development chain was reset, or the chain was reorganized deeply. */
const forgetMs = 10_000
const maxKeys = 10_000

/**
 * Creates the memory of heads by key. It has the 5,000 most recently used keys or more.
 * @param options.monotonic - Whether a lower head counts only once the higher one is 10 seconds old. If not, it counts at once.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createSeenHeads = (options: { monotonic: boolean; now?: () => number }): SeenHeads => {
  const { monotonic, now = monotonicClock() } = options
  const heads = createRecentMap<SeenHead>(maxKeys)
  return {
    get: (keyId) => heads.get(keyId)?.block,
    record: (keyId, head) => {
      const time = now()
      const seen = heads.get(keyId)
      if (seen === undefined) heads.set(keyId, { block: head, at: time })
      else if (head >= seen.block || !monotonic || time - seen.at >= forgetMs) {
        seen.block = head
        seen.at = time
      }
      return seen?.block ?? head
    },
  }
}
