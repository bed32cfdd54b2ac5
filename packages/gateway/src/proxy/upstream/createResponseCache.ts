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
  const values = new Map<string, Buffer>()
  let bytes = 0
  const getSize = (key: string, value: Buffer | string): number => key.length + value.length + entryBytes
  const remove = (key: string, value: Buffer): void => {
    values.delete(key)
    bytes -= getSize(key, value)
  }
  return {
    on: maxBytes > 0,
    get: (key) => {
      const value = values.get(key)
      if (value === undefined) return undefined
      // A map iterates in insertion order, so its first entry is the least recently used one.
      values.delete(key)
      values.set(key, value)
      return value
    },
    set: (key, value) => {
      if (getSize(key, value) > maxBytes * maxEntryPart) return
      const before = values.get(key)
      if (before !== undefined) remove(key, before)
      // A copy: the value may be a slice of a large buffer, which would stay in memory with it.
      const copy = Buffer.from(value)
      values.set(key, copy)
      bytes += getSize(key, copy)
      for (const [oldest, old] of values) {
        if (bytes <= maxBytes) return
        remove(oldest, old)
      }
    },
    clear: () => {
      values.clear()
      bytes = 0
    },
    bytes: () => bytes,
  }
}
