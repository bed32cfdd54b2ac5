/** A map that keeps what was used last, and forgets all that belongs to a subject at once. */
export interface KeyCache<Value> {
  get(name: string): Value | undefined
  /** @param subjects - What the value depends on: a user, an app, a key, each by its id. */
  set(name: string, value: Value, subjects: readonly string[]): void
  /** Forgets all values that depend on a subject. */
  forget(subject: string): void
  clear(): void
  /** How many values are held now; never above `maxEntries`. */
  readonly size: number
}

interface Entry<Value> {
  readonly value: Value
  readonly subjects: readonly string[]
}

/** Half of a cache: its entries, and which of them depend on what. Most subjects have one entry, and a set for it would cost more than all else. */
interface Generation<Value> {
  readonly entries: Map<string, Entry<Value>>
  readonly bySubject: Map<string, string | Set<string>>
}

const emptyGeneration = <Value>(): Generation<Value> => ({ entries: new Map(), bySubject: new Map() })

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
 * Makes a cache of bounded size. It is two generations, as in `createRecentMap`: what is used moves into the young one, which becomes
 * the old one when it is half of `maxEntries`; what was the old one is forgotten, with its index. So nothing is ever searched through.
 * @param maxEntries - At least 2.
 * @throws {TypeError} where `maxEntries` is no whole number of 2 or more.
 */
export const createKeyCache = <Value>(maxEntries: number): KeyCache<Value> => {
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 2)
    throw new TypeError('maxEntries must be a whole number of 2 or more')
  const half = Math.floor(maxEntries / 2)
  let young = emptyGeneration<Value>()
  let old = emptyGeneration<Value>()
  const put = (name: string, entry: Entry<Value>): void => {
    if (young.entries.size >= half && !young.entries.has(name)) {
      old = young
      young = emptyGeneration()
    }
    // Its name may stay in the old index: at worst an entry is read again that did not change.
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
      young = emptyGeneration()
      old = emptyGeneration()
    },
    get size() {
      return young.entries.size + old.entries.size
    },
  }
}
