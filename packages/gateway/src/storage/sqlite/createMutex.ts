import { StorageError } from '../../errors/storageError.ts'

/** A mutex. */
export interface Mutex {
  /**
   * Waits for the lock, in order.
   * @throws {StorageError} `busy` if the wait times out, `unavailable` once closed.
   */
  acquire(): Promise<void>
  /** Releases the lock to the next waiter. */
  release(): void
  /** Rejects new calls of `acquire`, and resolves once all earlier ones have released the lock. */
  close(): Promise<void>
}

interface Waiter {
  readonly resolve: () => void
  readonly timer: NodeJS.Timeout
}

/**
 * Creates a mutex for a connection whose work blocks the thread. When the lock was passed on for `sliceMs` without a pause, the next waiter
 * gets it in a later turn of the event loop, so that a thousand queued queries do not block everything else.
 * @param options.waitMs - The longest wait for the lock, in milliseconds.
 * @param options.sliceMs - The longest time without a pause, in milliseconds.
 */
export const createMutex = ({ waitMs, sliceMs }: { waitMs: number; sliceMs: number }): Mutex => {
  const waiting = new Set<Waiter>()
  let isLocked = false
  let sliceStartedAt = 0
  let whenIdle: (() => void) | undefined
  let closed = false

  const passOn = (): void => {
    const [first] = waiting
    if (first === undefined) {
      isLocked = false
      whenIdle?.()
      return
    }
    waiting.delete(first)
    clearTimeout(first.timer)
    first.resolve()
  }

  return {
    acquire: () => {
      if (closed) return Promise.reject(new StorageError('the database is closed', { fault: 'unavailable' }))
      if (!isLocked) {
        isLocked = true
        sliceStartedAt = performance.now()
        return Promise.resolve()
      }
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          resolve,
          timer: setTimeout(() => {
            waiting.delete(waiter)
            reject(new StorageError('the database was in use for too long', { fault: 'busy' }))
          }, waitMs),
        }
        waiting.add(waiter)
      })
    },
    release: () => {
      if (performance.now() - sliceStartedAt < sliceMs) {
        passOn()
        return
      }
      setImmediate(() => {
        sliceStartedAt = performance.now()
        passOn()
      })
    },
    close: () => {
      closed = true
      return isLocked ? new Promise((resolve) => (whenIdle = resolve)) : Promise.resolve()
    },
  }
}
