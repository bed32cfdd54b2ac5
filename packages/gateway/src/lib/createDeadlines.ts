import { createQueue } from './createQueue.ts'

/** A deadline that can be cancelled. */
export type Deadline = number | NodeJS.Timeout

/** The deadlines of the calls in flight. Nearly all of them have the same length. */
export interface Deadlines {
  /**
   * Starts a deadline.
   * @param ms - From now.
   * @param onTimeout - Called once when the time is up, unless the deadline was cancelled.
   */
  readonly start: (ms: number, onTimeout: () => void) => Deadline
  readonly cancel: (deadline: Deadline) => void
}

interface Pending {
  readonly at: number
  readonly onTimeout: () => void
  ticket: number
}

/**
 * Creates deadlines that share one timer. Deadlines of the usual length expire in the order in which they started, so a queue and one timer
 * are enough. A timer for each call would cost as much as reading the call.
 * @param usualMs - The usual length in milliseconds. A deadline of any other length gets its own timer.
 */
export const createDeadlines = (usualMs: number): Deadlines => {
  const queue = createQueue<Pending>()
  let isScheduled = false
  const schedule = (ms: number): void => {
    isScheduled = true
    setTimeout(expire, Math.max(1, Math.ceil(ms))).unref()
  }
  const expire = (): void => {
    isScheduled = false
    const now = performance.now()
    for (let first = queue.first(); first !== undefined; first = queue.first()) {
      if (first.at > now) {
        if (!isScheduled) schedule(first.at - now)
        return
      }
      queue.remove(first.ticket)
      first.onTimeout()
    }
  }
  return {
    start: (ms, onTimeout) => {
      if (ms !== usualMs) return setTimeout(onTimeout, ms)
      if (!isScheduled) schedule(ms)
      const pending: Pending = { at: performance.now() + ms, onTimeout, ticket: 0 }
      return (pending.ticket = queue.push(pending))
    },
    cancel: (deadline) => {
      if (typeof deadline === 'number') queue.remove(deadline)
      else clearTimeout(deadline)
    },
  }
}
