import { now, advanceTo } from './now.ts'

/** The return value of `setTimeout`. */
export type Timer = ReturnType<typeof setTimeout>

/** The longest time that timers support, in milliseconds: almost 25 days. */
export const MAX_TIMER_MS: number = 2_147_483_647

/**
 * Starts a timer. When it fires, {@link now} shows that its time has passed. A longer time than a timer supports is shortened to that: `setTimeout`
 * would fire at once.
 *
 * @param run - Called once, after the time.
 * @param ms - How long to wait, in milliseconds.
 * @returns The timer, for `clearTimeout`.
 * @example
 * const timer = startTimer(() => console.log('a second later'), 1_000)
 * clearTimeout(timer)
 */
export function startTimer(run: () => void, ms: number): Timer {
  const waitMs = Math.min(Math.max(0, ms) || 0, MAX_TIMER_MS)
  const dueAt = now() + waitMs
  return setTimeout(() => {
    advanceTo(dueAt)
    run()
  }, waitMs)
}
