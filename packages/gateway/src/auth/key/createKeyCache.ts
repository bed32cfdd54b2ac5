/** An LRU-like cache that can drop all values of a subject at once. */
export interface KeyCache<Value> {
  get(name: string): Value | undefined
  /** @param subjects - The ids of the user, app and key that the value depends on. */
  set(name: string, value: Value, subjects: readonly string[]): void
  /** Drops all values that depend on a subject. */
  forget(subject: string): void
  clear(): void
  /** The number of values, at most `maxEntries`. */
  readonly size: number
}

interface Entry<Value> {
  readonly value: Value
  readonly subjects: readonly string[]
}

/** Half of a cache: its entries, and an index by subject. Most subjects have one entry, so that a set for each would dominate the memory. */
interface Generation<Value> {
  readonly entries: Map<string, Entry<Value>>
  readonly bySubject: Map<string, string | Set<string>>
}

const createGeneration = <Value>(): Generation<Value> => ({ entries: new Map(), bySubject: new Map() })

const add = <Value>({ entries, bySubject }: Generation<Value>, name: string, entry: Entry<Value>): void => {
  entries.set(name, entry)
  for (const subject of entry.subjects) {
    const names = bySubject.get(subject)
    if (names === undefined) bySubject.set(subject, name)
    else if (typeof names !== 'string') names.add(name)
    else if (names !== name) bySubject.set(subject, new Set([names, name]))
  }
}

const forgetIn = <Value>({ entries, bySubject }: Generation<Value>, subject: string): void => {
  const names = bySubject.get(subject)
  if (names === undefined) return
  if (typeof names === 'string') entries.delete(names)
  else for (const name of names) entries.delete(name)
  bySubject.delete(subject)
}

/**
 * Creates a cache of bounded size with two generations: a used entry moves to the young generation. At half of
 * `maxEntries` it becomes the old generation, and the previous old one is dropped with its index. Eviction never scans entries.
 * @param maxEntries - At least 2.
 * @throws {TypeError} if `maxEntries` is not a whole number of 2 or more.
 */
export const createKeyCache = <Value>(maxEntries: number): KeyCache<Value> => {
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 2)
    throw new TypeError('maxEntries must be a whole number of 2 or more')
  const half = Math.floor(maxEntries / 2)
  let young = createGeneration<Value>()
  let old = createGeneration<Value>()
  const put = (name: string, entry: Entry<Value>): void => {
    if (young.entries.size >= half && !young.entries.has(name)) {
      old = young
      young = createGeneration()
    }
    // Its name may stay in the index of the old generation. At worst an unchanged entry is dropped.
    old.entries.delete(name)
    add(young, name, entry)
  }
  return {
    get: (name) => {
      const entry = young.entries.get(name)
      if (entry !== undefined) return entry.value
      const older = old.entries.get(name)
      if (older !== undefined) put(name, older)
      return older?.value
    },
    set: (name, value, subjects) => put(name, { value, subjects }),
    forget: (subject) => {
      forgetIn(young, subject)
      forgetIn(old, subject)
    },
    clear: () => {
      young = createGeneration()
      old = createGeneration()
    },
    get size() {
      return young.entries.size + old.entries.size
    },
  }
}
