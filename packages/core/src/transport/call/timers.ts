import { createSharedTimer } from '../../clock/createSharedTimer.ts'
import type { SharedTimer } from '../../clock/createSharedTimer.ts'
import { now } from '../../clock/now.ts'
import { createQueue, leaveQueue } from './queue.ts'
import type { Queue, QueueEntry } from './queue.ts'

/** Timers of which most are cleared before they fire. */
export interface Timers<E extends QueueEntry> {
  readonly set: (entry: E) => void
  /** Clears the timer of an entry. It must not have fired. */
  readonly clear: (entry: E) => void
  /** All entries whose timers have not fired. */
  readonly all: () => E[]
}

/** The timers of one duration. They fire in the order in which they were set. */
interface Clock<E extends QueueEntry> {
  readonly ms: number
  readonly queue: Queue<E>
  readonly timer: SharedTimer
}

/** Clocks without timers are kept for this many durations, because most calls use one of a few. */
const MAX_IDLE_CLOCKS = 8

/**
 * Creates timers that share one timer of the platform for each duration. A platform timer for each call would cost more than most other work of a
 * call.
 *
 * @param onTimeout - Called when the timer of an entry fires.
 * @param getMs - The duration of an entry's timer, in milliseconds. It must not change.
 * @param setAt - When it was set, as `now()` counts.
 */
export function createTimers<E extends QueueEntry>(
  onTimeout: (entry: E) => void,
  getMs: (entry: E) => number,
  setAt: (entry: E) => number,
): Timers<E> {
  const clocks = new Map<number, Clock<E>>()

  const fire = (clock: Clock<E>): void => {
    for (let entry; (entry = clock.queue.first());) {
      const leftMs = setAt(entry) + clock.ms - now()
      // Platform timers may fire a little early, and have whole milliseconds.
      if (leftMs >= 1) return clock.timer.set(leftMs)
      clock.queue.leave(entry)
      onTimeout(entry)
    }
    stop(clock)
  }

  const createClock = (ms: number): Clock<E> => {
    const clock: Clock<E> = { ms, queue: createQueue(), timer: createSharedTimer(() => fire(clock)) }
    return clock
  }

  /** Called when a clock has no timer left. */
  const stop = (clock: Clock<E>): void => {
    clock.timer.clear()
    if (clocks.size > MAX_IDLE_CLOCKS && clocks.get(clock.ms) === clock) clocks.delete(clock.ms)
  }

  return {
    set: (entry) => {
      const ms = getMs(entry)
      let clock = clocks.get(ms)
      if (!clock) clocks.set(ms, (clock = createClock(ms)))
      clock.queue.enter(entry)
      if (!clock.timer.isSet()) clock.timer.set(ms)
    },
    clear: (entry) => {
      const alone = entry.before === entry.after
      leaveQueue(entry)
      const clock = alone && clocks.get(getMs(entry))
      // The caller may have changed the options since, so this may be the clock of another duration, which still has timers.
      if (clock && !clock.queue.first()) stop(clock)
    },
    all: () => [...clocks.values()].flatMap(({ queue }) => queue.all()),
  }
}
