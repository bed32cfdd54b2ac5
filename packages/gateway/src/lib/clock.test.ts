import { afterEach, expect, test, vi } from 'vitest'
import { monotonicClock } from './clock.ts'

afterEach(() => void vi.useRealTimers())

// 15.32
test('the default clock does not follow the wall clock', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000_000 })
  const now = monotonicClock()
  const before = now()
  for (const at of [2_000_000_000_000, 0, 1_000_000_000_000]) {
    vi.setSystemTime(at)
    const passed = now() - before
    expect(passed).toBeGreaterThanOrEqual(0)
    expect(passed).toBeLessThan(60_000)
  }
})

test('ignores steps back of the given clock', () => {
  let wall = 1_000
  const now = monotonicClock(() => wall)
  const times = [1_000, 1_500, 500, 600, 600, 0, 2_000].map((at) => {
    wall = at
    return now()
  })
  expect(times).toEqual([1_000, 1_500, 1_500, 1_600, 1_600, 1_600, 3_600])
})
