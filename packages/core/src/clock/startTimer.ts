import { now, advanceTo } from './now.ts'

/** The return value of `setTimeout`. */
export type Timer = ReturnType<typeof setTimeout>

/**
 * Starts a timer. When it fires, {@link now} shows that its time has passed.
 *
 * @param run - Called once, after the time.
 * @param ms - How long to wait, in milliseconds, below 2^31.
 * @returns The timer, for `clearTimeout`.
 * @example
 * const timer = startTimer(() => console.log('a second later'), 1_000)
 * clearTimeout(timer)
 */
export function startTimer(run: () => void, ms: number): Timer {
  const dueAt = now() + ms
  return setTimeout(() => {
    advanceTo(dueAt)
    run()
  }, ms)
}
