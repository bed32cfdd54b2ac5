import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSharedTimer } from './createSharedTimer.ts'
import { now } from './now.ts'
import { MAX_TIMER_MS, startTimer } from './startTimer.ts'

const DAY_MS = 86_400_000
/** What `performance.now()` returns. */
let reading: number

beforeEach(() => {
  reading = performance.now() + 1_000
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.spyOn(performance, 'now').mockImplementation(() => reading)
  now()
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('now', () => {
  test.each([
    ['a day forward', () => (reading += DAY_MS), DAY_MS],
    ['a day back', () => (reading -= DAY_MS), 0],
    ['to 0', () => (reading = 0), 0],
    ['to NaN', () => (reading = NaN), 0],
    ['to nothing', () => (reading = undefined as never), 0],
  ])('shows what passed when its source jumps %s, and continues from there', (_, jump, passed) => {
    const before = now()
    jump()
    expect(now() - before).toBeCloseTo(passed, 3)
    reading = (Number.isFinite(reading) ? reading : 5) + 50
    const after = now()
    reading += 10
    expect(now() - after).toBeCloseTo(10, 3)
  })

  test('never goes back and never stops, however its source jumps', () => {
    const step = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -DAY_MS, DAY_MS))
    fc.assert(
      fc.property(fc.array(step), (readings) => {
        let last = now()
        for (reading of readings) {
          const time = now()
          expect(time).toBeGreaterThanOrEqual(last)
          last = time
        }
        reading = 0
        last = now()
        reading = 1
        expect(now() - last).toBeCloseTo(1, 1)
      }),
    )
  })
})

describe('startTimer', () => {
  test.each([0, 0.5, 30, 5_000, DAY_MS])('shows that %d ms have passed when it fires, if the source is stuck', (ms) => {
    const before = now()
    let after: number | undefined
    startTimer(() => (after = now()), ms)
    vi.advanceTimersByTime(ms + 1)
    expect(Number(after) - before).toBeGreaterThanOrEqual(ms - 1e-3)
  })

  test.each([2 ** 31, 30 * DAY_MS, 1e300, Infinity])(
    'shortens %d ms, which a timer does not support, and the clock moves by no more',
    (ms) => {
      const before = now()
      const run = vi.fn<() => void>()
      startTimer(run, ms)
      vi.advanceTimersByTime(MAX_TIMER_MS - 1)
      expect(run).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1)
      expect(run).toHaveBeenCalledTimes(1)
      expect(now() - before).toBeLessThanOrEqual(MAX_TIMER_MS + 1e-3)
    },
  )

  test.each([-1, -Infinity, NaN, undefined as never])('fires at once for %d ms, and the clock does not move', (ms) => {
    const before = now()
    startTimer(() => {}, ms)
    vi.advanceTimersByTime(1)
    expect(now()).toBe(before)
  })

  test('does not make the clock run fast if the source is coarse', () => {
    const start = reading
    const before = now()
    let fired = 0
    const again = (): void => {
      fired++
      startTimer(again, 30)
    }
    again()
    for (let ms = 0; ms < 60_000; ms += 10) {
      vi.advanceTimersByTime(10)
      // As a browser that resists fingerprinting rounds it.
      reading = start + Math.floor((ms + 10) / 100) * 100
    }
    expect(fired).toBeGreaterThan(1_900)
    expect(now() - before).toBeLessThan(60_200)
  })

  test('lets the clock continue at once when no timer is ahead of it any more', () => {
    startTimer(() => {}, DAY_MS)
    vi.advanceTimersByTime(DAY_MS)
    const before = now()
    reading += 5_000
    expect(now() - before).toBeCloseTo(5_000, 3)
  })
})

describe('a shared timer', () => {
  test('fires after its time, and can be set again', () => {
    const run = vi.fn<() => void>()
    const timer = createSharedTimer(run)
    expect(timer.isSet()).toBe(false)
    timer.set(100)
    timer.set(200)
    vi.advanceTimersByTime(199)
    expect(run).not.toHaveBeenCalled()
    expect(timer.isSet()).toBe(true)
    vi.advanceTimersByTime(1)
    expect(run).toHaveBeenCalledTimes(1)
    expect(timer.isSet()).toBe(false)
    timer.set(50)
    timer.clear()
    vi.advanceTimersByTime(100)
    expect(run).toHaveBeenCalledTimes(1)
  })

  test('is not set any more when the fake timers that it was set with are gone', async () => {
    const run = vi.fn<() => void>()
    const timer = createSharedTimer(run)
    timer.set(1)
    vi.useRealTimers()
    expect(timer.isSet()).toBe(false)
    timer.set(1)
    expect(timer.isSet()).toBe(true)
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), 60_000)
  })

  test('that was set with real timers is cleared by them under fake ones', async () => {
    vi.useRealTimers()
    const run = vi.fn<() => void>()
    const timer = createSharedTimer(run)
    timer.set(5)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    timer.clear()
    vi.useRealTimers()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(run).not.toHaveBeenCalled()
  })
})
