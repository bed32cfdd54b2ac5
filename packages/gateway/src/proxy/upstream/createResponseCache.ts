/** Keeps answers that cannot change any more. */
export interface ResponseCache {
  /** False where nothing is kept at all. */
  readonly on: boolean
  readonly get: (key: string) => Buffer | undefined
  readonly set: (key: string, value: Buffer | string) => void
  readonly clear: () => void
  /** What is held now, keys included, in bytes. */
  readonly bytes: () => number
}

/** What a map's entry costs beside its key and value, about. */
const entryBytes = 200
/** One answer may have no more than this part of the whole. */
const largestPart = 1 / 16

/**
 * Makes a cache of answers' bytes by what was asked. The answer that was not used for longest makes room.
 * @param maxBytes - 0 keeps nothing.
 */
export const createResponseCache = (maxBytes: number): ResponseCache => {
  const values = new Map<string, Buffer>()
  let bytes = 0
  const costOf = (key: string, value: Buffer | string): number => key.length + value.length + entryBytes
  const remove = (key: string, value: Buffer): void => {
    values.delete(key)
    bytes -= costOf(key, value)
  }
  return {
    on: maxBytes > 0,
    get: (key) => {
      const value = values.get(key)
      if (value === undefined) return undefined
      // A map keeps the order in which entries came, so the first is the one unused for longest.
      values.delete(key)
      values.set(key, value)
      return value
    },
    set: (key, value) => {
      if (costOf(key, value) > maxBytes * largestPart) return
      const before = values.get(key)
      if (before !== undefined) remove(key, before)
      // Its own copy: the bytes that came may be a small part of a large buffer, which would be kept with them.
      const kept = Buffer.from(value)
      values.set(key, kept)
      bytes += costOf(key, kept)
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
