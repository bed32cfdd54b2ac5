import { now } from '../clock/now.ts'
import { startTimer } from '../clock/startTimer.ts'
import type { Timer } from '../clock/startTimer.ts'

/**
 * A place where answers outlive the process, such as a file, a database or IndexedDB. It may fail, and it may hang: the call then goes to the
 * network.
 *
 * @example
 * const kept = new Map<string, string>()
 * const store: CacheStore = { get: (key) => kept.get(key), set: (key, text) => void kept.set(key, text) }
 */
export interface CacheStore {
  /** Gives what was set under this key, or nothing. */
  readonly get: (key: string) => string | null | undefined | Promise<string | null | undefined>
  /** Keeps a text under a key. What is kept never changes, so it may be kept for ever or thrown away at any time. */
  readonly set: (key: string, text: string) => void | Promise<void>
}

/** A store that cannot hold up or fail a call. */
export interface BoundStore {
  /** Calls `done` once, at once where the store answers at once, and not after the returned function was called. */
  readonly get: (key: string, done: (text: string | undefined) => void) => () => void
  readonly set: (key: string, text: string) => void
}

/** How long a call waits for the store. */
const WAIT_MS = 250
/** How long the store is left alone after it was waited for in vain. */
const PAUSE_MS = 5_000
/** How many writes may be under way; more are dropped, so that a store that hangs cannot fill the memory. */
const MAX_WRITES = 100

/** Puts bounds around a store. `prefix` goes before every key. */
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
    let held: ReturnType<CacheStore['get']>
    try {
      held = now() < pausedUntil ? undefined : store.get(prefix + key)
    } catch {
      held = undefined
    }
    if (Object(held) === held) {
      timer = startTimer(() => {
        pausedUntil = now() + PAUSE_MS
        finish(undefined)
      }, WAIT_MS)
      Promise.resolve(held).then(finish, () => finish(undefined))
    } else finish(held)
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
