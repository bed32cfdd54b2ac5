import { LRUCache } from 'lru-cache'

/** A map of bounded size that evicts the least recently used entries. */
export interface RecentMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  /** The number of entries, never above `maxEntries`. */
  readonly size: number
}

/**
 * Creates a map of bounded size. Its memory grows with its entries, so that a high bound costs nothing.
 * @throws {TypeError} If `maxEntries` is not a whole number of 1 or more.
 */
export const createRecentMap = <Value extends object | number | boolean>(maxEntries: number): RecentMap<Value> =>
  // The option `max` would allocate the memory of all entries at once.
  new LRUCache<string, Value>({ maxSize: maxEntries, sizeCalculation: () => 1 })
