import { createSharedTimer } from '../clock/createSharedTimer.ts'
import type { SharedTimer } from '../clock/createSharedTimer.ts'
import { now } from '../clock/now.ts'
import { createQueue, leaveQueue } from './queue.ts'
import type { Queue, QueueEntry } from './queue.ts'

/** Alarms that are mostly put off before they ring. One that has rung stands in no lane any more. */
export interface Alarms<P extends QueueEntry> {
  readonly set: (place: P) => void
  /** Puts off an alarm that has not rung. */
  readonly unset: (place: P) => void
  /** All that have not rung. */
  readonly all: () => P[]
}

/** Those of one time: they come due in the order in which they were set. */
interface Clock<P extends QueueEntry> {
  readonly ms: number
  readonly queue: Queue<P>
  readonly timer: SharedTimer
}

/** Clocks without alarms are kept for so many times, because most calls have one of a few. */
const MAX_IDLE_CLOCKS = 8

/**
 * Rings after a time, with one timer for all that wait for the same time: a timer for each call costs more than most of what else is done for it.
 *
 * @param ring - Called when an alarm is due.
 * @param msOf - After which time an alarm rings, in milliseconds: always the same for one.
 * @param setAt - When it was set, as `now()` counts.
 */
export function createTimers<P extends QueueEntry>(
  ring: (place: P) => void,
  msOf: (place: P) => number,
  setAt: (place: P) => number,
): Alarms<P> {
  const clocks = new Map<number, Clock<P>>()

  const strike = (clock: Clock<P>): void => {
    for (let place; (place = clock.queue.first());) {
      const leftMs = setAt(place) + clock.ms - now()
      // Timers may come a little early, and are whole milliseconds.
      if (leftMs >= 1) return clock.timer.set(leftMs)
      clock.queue.leave(place)
      ring(place)
    }
    stop(clock)
  }

  const createClock = (ms: number): Clock<P> => {
    const clock: Clock<P> = { ms, queue: createQueue(), timer: createSharedTimer(() => strike(clock)) }
    return clock
  }

  /** Where no alarm is left. */
  const stop = (clock: Clock<P>): void => {
    clock.timer.clear()
    if (clocks.size > MAX_IDLE_CLOCKS && clocks.get(clock.ms) === clock) clocks.delete(clock.ms)
  }

  return {
    set: (place) => {
      const ms = msOf(place)
      let clock = clocks.get(ms)
      if (!clock) clocks.set(ms, (clock = createClock(ms)))
      clock.queue.enter(place)
      if (!clock.timer.isSet()) clock.timer.set(ms)
    },
    unset: (place) => {
      const alone = place.before === place.after
      leaveQueue(place)
      const clock = alone && clocks.get(msOf(place))
      // The options that its time is read from may have been changed meanwhile: then it is another clock, for which others may wait.
      if (clock && !clock.queue.first()) stop(clock)
    },
    all: () => [...clocks.values()].flatMap(({ queue }) => queue.all()),
  }
}
