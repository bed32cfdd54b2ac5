/** A clock in milliseconds. */
export type Clock = () => number

/**
 * Creates a monotonic clock for durations: rate limits, throttles, timeouts and cache expiry. It never goes back, so setting the wall clock
 * back cannot make a wait longer. Use the wall clock only for times that are shown, stored, or compared with stored times.
 *
 * @param wall - A clock that may go back, such as the `now` of a test. Steps back are ignored. @default performance.now, which does not
 * follow the wall clock
 * @returns A function that returns milliseconds since an arbitrary moment.
 * @example
 * const now = monotonicClock()
 * const startedAt = now()
 * const isLate = (): boolean => now() - startedAt > 1_000
 */
export const monotonicClock = (wall?: Clock): Clock => {
  if (wall === undefined) return () => performance.now()
  let last = wall()
  let skipped = 0
  return () => {
    const time = wall()
    if (time < last) skipped += last - time
    last = time
    return time + skipped
  }
}
