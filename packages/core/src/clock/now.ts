/** The last reading of `performance.now()`. */
let lastReading = 0
/** Added to a reading, because the source went back or fell behind the timers. */
let offsetMs = 0
/** The latest time that was returned, or at which a timer fired. The clock never shows less. */
let latest = 0

/** A reading of 300 years or more comes from a mock. */
const MAX_READING = 1e13

/**
 * A clock may be this much coarser than timers: some browsers round `performance.now()` to 100 ms. If it falls further behind,
 * it is a mock that does not move together with the timers.
 */
const MAX_COARSENESS_MS = 1_000

/**
 * The time in milliseconds, for measuring how long something takes. Everything in Keyrail that keeps time reads this clock.
 *
 * It never goes back. `performance.now()` does when fake timers are installed or removed, so the time continues from the last reading then.
 * It also agrees with the timers of {@link startTimer}: when one fires, its time has passed, even if `performance.now()` is stuck.
 *
 * @returns Milliseconds since an arbitrary moment. Only differences mean something; they are never negative.
 * @example
 * const startedAt = now()
 * await transport.request({ method: 'eth_blockNumber' })
 * console.log(`${now() - startedAt} ms`)
 */
export function now(): number {
  const reading = performance.now()
  // A mock may return anything, so values that are not a time are ignored.
  if (Math.abs(reading) < MAX_READING) {
    if (reading < lastReading) offsetMs += lastReading - reading
    lastReading = reading
  }
  latest = Math.max(latest, lastReading + offsetMs)
  return latest
}

/**
 * Moves the clock forward when a timer fires.
 *
 * @param dueAt - When it was due, as {@link now} counts.
 */
export function advanceTo(dueAt: number): void {
  if (dueAt <= now()) return
  const behindMs = dueAt - (lastReading + offsetMs)
  if (behindMs > MAX_COARSENESS_MS) offsetMs += behindMs
  latest = dueAt
}
