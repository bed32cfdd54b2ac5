import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../auth/allowList/fuzzCases.ts'
import { createRateLimit } from './createRateLimit.ts'

const clockAt = (start: number): { now: () => number; set: (ms: number) => void } => {
  let ms = start
  return { now: () => ms, set: (next) => (ms = next) }
}

/** One key's calls in time: how long after the last, and how many at once. */
const steps = fc.array(fc.tuple(fc.oneof(fc.nat(20), fc.nat(3_000)), fc.integer({ min: 1, max: 30 })), {
  minLength: 1,
  maxLength: 40,
})

describe('createRateLimit', () => {
  test('grants exactly what keeps every span of time within burst plus rate, by a look at all spans', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_500 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(1_000_000_000),
        steps,
        (perSecond, burst, start, calls) => {
          const clock = clockAt(start)
          const limit = createRateLimit({ perSecond, burst, now: clock.now })
          const grantedAt: { at: number; count: number }[] = []
          /** Whether one more call at `at` leaves every span that ends there within its bound. */
          const fits = (at: number): boolean => {
            let count = 1
            for (const earlier of grantedAt.toReversed()) {
              count += earlier.count
              if (count * 1000 > burst * 1000 + perSecond * (at - earlier.at)) return false
            }
            return true
          }
          let at = start
          for (const [wait, asked] of calls) {
            at += wait
            clock.set(at)
            let expected = 0
            const here = { at, count: 0 }
            grantedAt.push(here)
            while (expected < asked && fits(at)) {
              expected += 1
              here.count += 1
            }
            expect(limit.take('key', asked).granted).toBe(expected)
          }
        },
      ),
      { numRuns: fuzzCases(2_000) },
    )
  })

  test('says truly when the rest would be granted: then, and not a millisecond before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(500),
        (perSecond, burst, more, wait) => {
          const start = 5_000
          /** How many too few are granted `later` milliseconds after the time that was named; `undefined` where none was. */
          const run = (later: number): number | undefined => {
            const clock = clockAt(start)
            const limit = createRateLimit({ perSecond, burst, now: clock.now })
            limit.take('key', burst)
            clock.set(start + wait)
            const first = limit.take('key', more)
            const rest = Math.min(more - first.granted, burst)
            if (rest === 0) return undefined
            clock.set(start + wait + first.retryAfterMs + later)
            return rest - limit.take('key', rest).granted
          }
          if (run(0) !== undefined) {
            expect(run(0)).toBe(0)
            expect(run(-1)).toBeGreaterThan(0)
          }
          const clock = clockAt(start)
          const limit = createRateLimit({ perSecond, burst, now: clock.now })
          limit.take('key', burst)
          const { retryAfterMs, resetMs } = limit.take('key', more)
          expect([retryAfterMs, resetMs]).toEqual([
            Math.ceil((Math.min(more, burst) * 1000) / perSecond),
            Math.ceil((burst * 1000) / perSecond),
          ])
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('of a batch grants the first that fit, and says what is left', () => {
    const clock = clockAt(0)
    const limit = createRateLimit({ perSecond: 25, now: clock.now })
    expect(limit.take('key', 20)).toEqual({
      granted: 20,
      perSecond: 25,
      remaining: 5,
      retryAfterMs: 0,
      resetMs: 800,
      currentPerSecond: 20,
    })
    expect(limit.take('key', 26)).toEqual({
      granted: 5,
      perSecond: 25,
      remaining: 0,
      retryAfterMs: 840,
      resetMs: 1000,
      currentPerSecond: 46,
    })
    expect(limit.take('key')).toMatchObject({ granted: 0, retryAfterMs: 40 })
    clock.set(40)
    expect(limit.take('key')).toMatchObject({ granted: 1, remaining: 0 })
  })

  test('what was rejected costs nothing, however often it comes', () => {
    const clock = clockAt(0)
    const limit = createRateLimit({ perSecond: 1, burst: 1, now: clock.now })
    limit.take('key')
    for (let ms = 1; ms < 1000; ms += 1) {
      clock.set(ms)
      expect(limit.take('key').granted).toBe(0)
    }
    clock.set(1000)
    expect(limit.take('key').granted).toBe(1)
  })

  test('a key pays for itself alone', () => {
    const limit = createRateLimit({ perSecond: 1, now: () => 0 })
    expect([limit.take('a').granted, limit.take('a').granted, limit.take('b').granted]).toEqual([1, 0, 1])
  })

  test('a clock that goes back grants nothing more', () => {
    const clock = clockAt(10_000)
    const limit = createRateLimit({ perSecond: 10, now: clock.now })
    expect(limit.take('key', 10).granted).toBe(10)
    clock.set(0)
    expect(limit.take('key', 10).granted).toBe(0)
    clock.set(10_100)
    expect(limit.take('key', 10).granted).toBe(1)
  })

  test('remembers no more keys than it may, and among them every one of the last half', () => {
    const limit = createRateLimit({ perSecond: 1, maxKeys: 100, now: () => 0 })
    for (let index = 0; index < 1_000; index += 1) {
      expect(limit.take(`key-${index}`).granted).toBe(1)
      expect(limit.size).toBeLessThanOrEqual(100)
    }
    for (let index = 999; index >= 951; index -= 1) expect(limit.take(`key-${index}`).granted).toBe(0)
  })

  test('a key in use is not forgotten among strangers', () => {
    const limit = createRateLimit({ perSecond: 1, maxKeys: 10, now: () => 0 })
    limit.take('mine')
    for (let index = 0; index < 1_000; index += 1) {
      limit.take(`stranger-${index}`)
      expect(limit.take('mine').granted).toBe(0)
    }
  })

  test.each([
    [{ perSecond: 0 }, 'perSecond'],
    [{ perSecond: 1.5 }, 'perSecond'],
    [{ perSecond: Number.NaN }, 'perSecond'],
    [{ perSecond: 1_000_001 }, 'perSecond'],
    [{ perSecond: 1, burst: 0 }, 'burst'],
    [{ perSecond: 1, maxKeys: 1 }, 'maxEntries'],
  ])('rejects %j by name', (options, name) => {
    expect(() => createRateLimit(options)).toThrow(name)
  })
})
