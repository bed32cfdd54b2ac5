import { copyText } from '../../lib/copyText.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'

/** The calls to which two upstreams responded with `null`, so that callers who poll for a receipt do not double their load. */
export interface ConfirmedNulls {
  /** Whether an upstream with this head, or a higher one, has confirmed the `null`. */
  readonly has: (key: string, head: number) => boolean
  readonly add: (key: string, head: number) => void
}

/** A longer key is not remembered: the methods that may respond `null` have short params, and most filters of logs are short too. */
const maxKeyLength = 512

/**
 * Creates an empty memory.
 * @param maxEntries - The least recently used are forgotten, so that their `null` is confirmed once more.
 */
export const createConfirmedNulls = (maxEntries: number): ConfirmedNulls => {
  const heads = createRecentMap<number>(maxEntries)
  return {
    has: (key, head) => key.length > maxKeyLength || (heads.get(key) ?? -1) >= head,
    add: (key, head) => {
      if (key.length <= maxKeyLength) heads.set(copyText(key), head)
    },
  }
}
