import { LRUCache } from 'lru-cache'
import { copyText } from '../../lib/copyText.ts'

/** A cache of responses that cannot change. */
export interface ResponseCache {
  /** False if the cache is off. */
  readonly on: boolean
  readonly get: (key: string) => Buffer | undefined
  readonly set: (key: string, value: Buffer | string) => void
  readonly clear: () => void
  /** The size of all entries, keys included, in bytes. */
  readonly bytes: () => number
}

/** The overhead of a map entry, roughly. */
const entryBytes = 200
/** The largest entry, as a part of the cache. */
const maxEntryPart = 1 / 16

/**
 * Creates an LRU cache of response bytes by request.
 * @param maxBytes - 0 turns it off.
 */
export const createResponseCache = (maxBytes: number): ResponseCache => {
  const getSize = (key: string, value: Buffer | string): number => key.length + value.length + entryBytes
  const values = new LRUCache<string, Buffer>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: (value, key) => getSize(key, value),
  })
  return {
    on: maxBytes > 0,
    get: (key) => values.get(key),
    set: (key, value) => {
      if (getSize(key, value) > maxBytes * maxEntryPart) return
      // Copies: they may be slices of a large body, which would stay in memory with them.
      values.set(copyText(key), Buffer.from(value))
    },
    clear: () => values.clear(),
    bytes: () => values.calculatedSize,
  }
}
