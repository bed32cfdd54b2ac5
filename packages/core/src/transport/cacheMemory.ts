/** Answers as text, the most recently used ones, within a bound. */
export interface CacheMemory {
  readonly get: (key: string) => string | undefined
  readonly set: (key: string, text: string) => void
}

/** What an entry takes besides its characters. */
const ENTRY_BYTES = 64

const bytesOf = (text: string): number =>
  // Engines keep a text of Latin letters in one byte each, and any other in two.
  /[^\0-\xff]/.test(text) ? 2 * text.length : text.length

/**
 * Keeps texts in two generations of half the bound each: what is asked for moves to the young one, and when that is full the old one goes.
 * So each step takes the same short time however much is kept, which one map in order of use does not give.
 */
export function createCacheMemory(maxBytes: number): CacheMemory {
  let young = new Map<string, string>()
  let old = new Map<string, string>()
  let youngBytes = 0

  const set = (key: string, text: string): void => {
    const bytes = bytesOf(key) + bytesOf(text) + ENTRY_BYTES
    if (bytes > maxBytes / 2) return
    const held = young.get(key)
    if (held !== undefined) return
    if (youngBytes + bytes > maxBytes / 2) {
      old = young
      young = new Map()
      youngBytes = 0
    }
    young.set(key, text)
    youngBytes += bytes
  }
  const get = (key: string): string | undefined => {
    const text = young.get(key)
    if (text !== undefined) return text
    const aged = old.get(key)
    if (aged !== undefined) set(key, aged)
    return aged
  }
  return { get, set }
}
