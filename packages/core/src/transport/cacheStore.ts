import { now } from '../clock/now.ts'
import { startTimer } from '../clock/startTimer.ts'
import type { Timer } from '../clock/startTimer.ts'

/**
 * A store for results that outlives the process, such as a file, a database or IndexedDB. If it fails or hangs, the call goes to the network.
 *
 * @example
 * const texts = new Map<string, string>()
 * const store: CacheStore = { get: (key) => texts.get(key), set: (key, text) => void texts.set(key, text) }
 */
export interface CacheStore {
  /** Returns the text of a key, or nothing. */
  readonly get: (key: string) => string | null | undefined | Promise<string | null | undefined>
  /** Stores a text under a key. Texts never change, so they can be kept forever or deleted at any time. */
  readonly set: (key: string, text: string) => void | Promise<void>
}

/** A store that cannot delay or fail a call. */
export interface BoundStore {
  /** Calls `done` once; synchronously if the store returns a text and not a promise. `done` is not called after the returned function was. */
  readonly get: (key: string, done: (text: string | undefined) => void) => () => void
  readonly set: (key: string, text: string) => void
}

/** How long a call waits for the store. */
const WAIT_MS = 250
/** How long the store is not used after it did not respond in time. */
const PAUSE_MS = 5_000
/** How many writes may be in flight. More are dropped, so that a store that hangs cannot fill the memory. */
const MAX_WRITES = 100

/** Limits the time and the writes of a store. `prefix` is added to every key. */
export function boundStore(store: CacheStore, prefix: string): BoundStore {
  let pausedUntil = 0
  let writes = 0

  const get: BoundStore['get'] = (key, done) => {
    let over = false
    let timer: Timer | undefined
    const finish = (text: unknown): void => {
      if (over) return
      over = true
      clearTimeout(timer)
      done(typeof text === 'string' ? text : undefined)
    }
    let found: ReturnType<CacheStore['get']>
    try {
      found = now() < pausedUntil ? undefined : store.get(prefix + key)
    } catch {
      found = undefined
    }
    if (Object(found) === found) {
      timer = startTimer(() => {
        pausedUntil = now() + PAUSE_MS
        finish(undefined)
      }, WAIT_MS)
      Promise.resolve(found).then(finish, () => finish(undefined))
    } else finish(found)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }

  const set = (key: string, text: string): void => {
    if (writes >= MAX_WRITES) return
    writes++
    const done = (): void => void writes--
    try {
      Promise.resolve(store.set(prefix + key, text)).then(done, done)
    } catch {
      done()
    }
  }
  return { get, set }
}
