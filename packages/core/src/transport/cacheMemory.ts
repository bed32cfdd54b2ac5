/** A bounded map of texts that keeps the most recently used ones. */
export interface CacheMemory {
  readonly get: (key: string) => string | undefined
  readonly set: (key: string, text: string) => void
}

/** The size of an entry besides its characters. */
const ENTRY_BYTES = 64

const countBytes = (text: string): number =>
  // Engines store Latin-1 text with one byte per character, and other text with two.
  /[^\0-\xff]/.test(text) ? 2 * text.length : text.length

/**
 * Creates a map of two generations, each with half of the bytes. A text that is read moves to the young generation. When that is full, the old one is
 * dropped. So each operation takes constant time, which a single map in order of use does not offer.
 */
export function createCacheMemory(maxBytes: number): CacheMemory {
  let young = new Map<string, string>()
  let old = new Map<string, string>()
  let youngBytes = 0

  const set = (key: string, text: string): void => {
    const bytes = countBytes(key) + countBytes(text) + ENTRY_BYTES
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
