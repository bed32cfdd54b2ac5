import { createLine } from './createLine.ts'

/** What a deadline is ended by. */
export type Deadline = number | NodeJS.Timeout

/** The deadlines of the calls in flight, nearly all of one length. */
export interface Deadlines {
  /**
   * @param ms - From now.
   * @param late - Called once, when the time is over, unless the deadline was ended before.
   */
  readonly begin: (ms: number, late: () => void) => Deadline
  readonly end: (deadline: Deadline) => void
}

interface Waiting {
  readonly at: number
  readonly late: () => void
  number: number
}

/**
 * Makes the book of deadlines. Those of the usual length end in the order in which they began, so one timer does for all: a timer of its own
 * for each call would cost as much as to read the call.
 * @param usualMs - In milliseconds.
 */
export const createDeadlines = (usualMs: number): Deadlines => {
  const line = createLine<Waiting>()
  let isSet = false
  const set = (ms: number): void => {
    isSet = true
    setTimeout(ring, Math.max(1, Math.ceil(ms))).unref()
  }
  const ring = (): void => {
    isSet = false
    const now = performance.now()
    for (let first = line.first(); first !== undefined; first = line.first()) {
      if (first.at > now) {
        if (!isSet) set(first.at - now)
        return
      }
      line.leave(first.number)
      first.late()
    }
  }
  return {
    begin: (ms, late) => {
      if (ms !== usualMs) return setTimeout(late, ms)
      if (!isSet) set(ms)
      const waiting: Waiting = { at: performance.now() + ms, late, number: 0 }
      return (waiting.number = line.join(waiting))
    },
    end: (deadline) => {
      if (typeof deadline === 'number') line.leave(deadline)
      else clearTimeout(deadline)
    },
  }
}
