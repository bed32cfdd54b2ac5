import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createThrottle } from './createThrottle.ts'

describe('createThrottle', () => {
  test('allows a burst, then one attempt per interval, and forgets the key', () => {
    let time = 1_000_000
    const throttle = createThrottle({ burst: 3, intervalMs: 100, now: () => time })
    for (let at = 0; at < 3; at += 1) {
      expect(throttle.waitMs('a')).toBe(0)
      throttle.record('a')
    }
    expect(throttle.waitMs('a')).toBe(100)
    expect(throttle.waitMs('b')).toBe(0)
    time += 40
    expect(throttle.waitMs('a')).toBe(60)
    time += 60
    const undo = throttle.record('a')
    expect(throttle.waitMs('a')).toBe(100)
    undo()
    expect(throttle.waitMs('a')).toBe(0)
    throttle.record('a')
    // Attempts while throttled do not extend the wait further, and undoing one does not shorten it.
    for (let at = 0; at < 50; at += 1) throttle.record('a')
    expect(throttle.waitMs('a')).toBe(100)
    throttle.record('a')()
    expect(throttle.waitMs('a')).toBe(100)
    time += 300
    for (let at = 0; at < 3; at += 1) {
      expect(throttle.waitMs('a')).toBe(0)
      throttle.record('a')
    }
  })

  test('stores at most maxKeys keys', () => {
    const throttle = createThrottle({ burst: 1, intervalMs: 100, maxKeys: 50, now: () => 0 })
    for (let at = 0; at < 1_000; at += 1) throttle.record(`key ${at}`)
    expect(throttle.size).toBeLessThanOrEqual(50)
    expect(throttle.waitMs('key 999')).toBe(100)
  })

  test('never allows more attempts than the burst and the time span', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 60 }),
        (burst, intervalMs, waits) => {
          let time = 0
          const throttle = createThrottle({ burst, intervalMs, now: () => time })
          const passed: number[] = []
          for (const wait of waits) {
            time += wait
            if (throttle.waitMs('a') > 0) continue
            throttle.record('a')
            passed.push(time)
          }
          passed.forEach((from, first) =>
            passed.slice(first).forEach((to, count) => {
              expect(count + 1).toBeLessThanOrEqual(burst + (to - from) / intervalMs)
            }),
          )
        },
      ),
      { numRuns: 500 },
    )
  })
})
