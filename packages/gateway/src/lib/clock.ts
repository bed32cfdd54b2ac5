/** A clock in milliseconds. */
export type Clock = () => number

/**
 * Creates a clock for waits: rates, throttles, time-outs, and how long something stays cached. It never goes back, so a wall clock that is
 * set back cannot make a wait longer. Use the wall clock only for times that are shown, stored, or compared with stored ones.
 *
 * @param wall - A clock that may be set back, such as the one that tests pass as `now`. Its steps back are left out. @default
 * performance.now, which does not follow the wall clock
 * @returns Milliseconds since any moment.
 * @example
 * const now = monotonicClock()
 * const startedAt = now()
 * const isLate = (): boolean => now() - startedAt > 1_000
 */
export const monotonicClock = (wall?: Clock): Clock => {
  if (wall === undefined) return () => performance.now()
  let last = wall()
  let leftOut = 0
  return () => {
    const time = wall()
    if (time < last) leftOut += last - time
    last = time
    return time + leftOut
  }
}
