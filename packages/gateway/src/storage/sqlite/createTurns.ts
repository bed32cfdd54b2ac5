import { StorageError } from '../../errors/storageError.ts'

/** Lets one at a time have something. */
export interface Turns {
  /**
   * Waits for one's turn, first come first served.
   * @throws {StorageError} `busy` where it did not come in time, `unavailable` once closed.
   */
  take(): Promise<void>
  /** Ends one's turn. */
  give(): void
  /** Rejects who comes from now on, and resolves when those who came before are done. */
  close(): Promise<void>
}

interface Waiter {
  readonly begin: () => void
  readonly timer: NodeJS.Timeout
}

/**
 * Makes turns for a connection whose work holds the thread. After `sliceMs` of turn upon turn the next begins in another round of the
 * event loop, so that a thousand queries waiting do not stop everything else until the last is done.
 * @param options.waitMs - The longest wait for a turn, in milliseconds.
 * @param options.sliceMs - The longest run of turns without a pause, in milliseconds.
 */
export const createTurns = ({ waitMs, sliceMs }: { waitMs: number; sliceMs: number }): Turns => {
  const waiting = new Set<Waiter>()
  let taken = false
  let sliceBegan = 0
  let whenIdle: (() => void) | undefined
  let closed = false

  const next = (): void => {
    const [first] = waiting
    if (first === undefined) {
      taken = false
      whenIdle?.()
      return
    }
    waiting.delete(first)
    clearTimeout(first.timer)
    first.begin()
  }

  return {
    take: () => {
      if (closed) return Promise.reject(new StorageError('the database is closed', { fault: 'unavailable' }))
      if (!taken) {
        taken = true
        sliceBegan = performance.now()
        return Promise.resolve()
      }
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          begin: resolve,
          timer: setTimeout(() => {
            waiting.delete(waiter)
            reject(new StorageError('the database was in use for too long', { fault: 'busy' }))
          }, waitMs),
        }
        waiting.add(waiter)
      })
    },
    give: () => {
      if (performance.now() - sliceBegan < sliceMs) {
        next()
        return
      }
      setImmediate(() => {
        sliceBegan = performance.now()
        next()
      })
    },
    close: () => {
      closed = true
      return taken ? new Promise((resolve) => (whenIdle = resolve)) : Promise.resolve()
    },
  }
}
