/** A map that keeps what was used last, and forgets the rest rather than grow. */
export interface RecentMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  /** How many entries are held now; never above `maxEntries`. */
  readonly size: number
}

/**
 * Makes a map of bounded size. It is two maps: what is used moves into the young one, and when that is half of `maxEntries` it
 * becomes the old one, and what was the old one is forgotten. So the last `maxEntries / 2` keys used are always there, and no
 * use costs more than two look-ups.
 * @param maxEntries - At least 2.
 * @throws {TypeError} where `maxEntries` is no whole number of 2 or more.
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
