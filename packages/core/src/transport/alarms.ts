import { createLane } from './lane.ts'
import type { Lane, Place } from './lane.ts'

/** Something that is due after a time. */
export interface Alarm extends Place {
  /** The time, in milliseconds. */
  readonly ms: number
  /** When it is due, on the clock of `performance.now()`. */
  readonly dueAt: number
  /** Whether it has rung. */
  rung: boolean
}

/** Alarms that are mostly put off before they ring. */
export interface Alarms<A extends Alarm> {
  readonly set: (alarm: A) => void
  /** Puts off an alarm that has not rung. */
  readonly unset: (alarm: A) => void
}

/** Those of one time: they come due in the order in which they were set. */
interface Clock<A extends Alarm> {
  readonly ms: number
  readonly lane: Lane<A>
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Clocks without alarms are kept for so many times, because most calls have one of a few. */
const MAX_IDLE_CLOCKS = 8

/**
 * Rings after a time, with one timer for all that wait for the same time: a timer for each call costs more than most of what else is done for it.
 *
 * @param ring - Called when an alarm is due.
 */
export function createAlarms<A extends Alarm>(ring: (alarm: A) => void): Alarms<A> {
  const clocks = new Map<number, Clock<A>>()

  const strike = (clock: Clock<A>): void => {
    for (let alarm; (alarm = clock.lane.first());) {
      const leftMs = alarm.dueAt - performance.now()
      // Timers may come a little early, and are whole milliseconds.
      if (leftMs >= 1) {
        // One that rang may have led to another's being set.
        clearTimeout(clock.timer)
        clock.timer = setTimeout(strike, leftMs, clock)
        return
      }
      clock.lane.leave(alarm)
      alarm.rung = true
      ring(alarm)
    }
    stop(clock)
  }

  /** Where no alarm is left. */
  const stop = (clock: Clock<A>): void => {
    clearTimeout(clock.timer)
    clock.timer = undefined
    if (clocks.size > MAX_IDLE_CLOCKS && clocks.get(clock.ms) === clock) clocks.delete(clock.ms)
  }

  return {
    set: (alarm) => {
      const { ms } = alarm
      let clock = clocks.get(ms)
      if (!clock) clocks.set(ms, (clock = { ms, lane: createLane(), timer: undefined }))
      clock.lane.enter(alarm)
      clock.timer ??= setTimeout(strike, ms, clock)
    },
    unset: (alarm) => {
      const clock = clocks.get(alarm.ms)
      if (!clock) return
      clock.lane.leave(alarm)
      if (!clock.lane.first()) stop(clock)
    },
  }
}
