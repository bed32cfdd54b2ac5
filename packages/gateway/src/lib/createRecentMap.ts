/** A map of bounded size that evicts the least recently used entries. */
export interface RecentMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  /** The number of entries, never above `maxEntries`. */
  readonly size: number
}

/**
 * Creates a map of bounded size. It has two generations: an entry that is used moves into the young one. When the young generation has
 * `maxEntries / 2` entries it becomes the old one, and the former old one is dropped. So the map always has the `maxEntries / 2` most recently
 * used keys, and no operation needs more than two look-ups.
 * @param maxEntries - At least 2.
 * @throws {TypeError} If `maxEntries` is not a whole number of 2 or more.
 */
export const createRecentMap = <Value>(maxEntries: number): RecentMap<Value> => {
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 2)
    throw new TypeError('maxEntries must be a whole number of 2 or more')
  const half = Math.floor(maxEntries / 2)
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  const set = (key: string, value: Value): void => {
    if (young.size >= half && !young.has(key)) {
      old = young
      young = new Map()
    }
    old.delete(key)
    young.set(key, value)
  }
  return {
    get: (key) => {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    get size() {
      return young.size + old.size
    },
  }
}
