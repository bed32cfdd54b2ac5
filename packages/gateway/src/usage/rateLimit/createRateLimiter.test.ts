import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { createRateLimiter } from './createRateLimiter.ts'
import type { RateLimiterOptions } from './createRateLimiter.ts'
import type { RateDecision, RateLimits } from './rateDecision.ts'

const clockAt = (start: number): { now: () => number; set: (ms: number) => void } => {
  let ms = start
  return { now: () => ms, set: (next) => (ms = next) }
}

/** The calls of one key: milliseconds since the previous ones, and how many at once. */
const steps = fc.array(fc.tuple(fc.oneof(fc.nat(20), fc.nat(3_000)), fc.integer({ min: 1, max: 30 })), {
  minLength: 1,
  maxLength: 40,
})

/** A limiter with the same limits for all keys. */
const createLimit = ({
  perSecond,
  burst = perSecond,
  ...options
}: Partial<RateLimits> & RateLimiterOptions & { perSecond: number }) => {
  const limiter = createRateLimiter(options)
  return {
    take: (id: string, calls = 1): RateDecision => limiter.take(id, { perSecond, burst }, calls),
    get size() {
      return limiter.size
    },
  }
}

describe('createRateLimiter', () => {
  test('grants a call exactly if every period then stays within burst plus rate, by a check of all periods', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_500 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(1_000_000_000),
        steps,
        (perSecond, burst, start, calls) => {
          const clock = clockAt(start)
          const limit = createLimit({ perSecond, burst, now: clock.now })
          const grantedAt: { at: number; count: number }[] = []
          /** Whether every period that ends at `at` stays within its bound with one more call. */
          const fits = (at: number): boolean => {
            let count = 1
            for (const earlier of grantedAt.toReversed()) {
              count += earlier.count
              if (count * 1000 > burst * 1000 + perSecond * (at - earlier.at)) return false
            }
            return true
          }
          let at = start
          for (const [pauseMs, count] of calls) {
            at += pauseMs
            clock.set(at)
            let expected = 0
            const here = { at, count: 0 }
            grantedAt.push(here)
            while (expected < count && fits(at)) {
              expected += 1
              here.count += 1
            }
            expect(limit.take('key', count).granted).toBe(expected)
          }
        },
      ),
      { numRuns: fuzzCases(2_000) },
    )
  })

  test('retryAfterMs is exact: the rest is granted then, and not a millisecond earlier', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(500),
        (perSecond, burst, more, pauseMs) => {
          const start = 5_000
          /** How many calls are still missing `offsetMs` after the returned time; `undefined` if all were granted at once. */
          const countMissing = (offsetMs: number): number | undefined => {
            const clock = clockAt(start)
            const limit = createLimit({ perSecond, burst, now: clock.now })
            limit.take('key', burst)
            clock.set(start + pauseMs)
            const first = limit.take('key', more)
            const rest = Math.min(more - first.granted, burst)
            if (rest === 0) return undefined
            clock.set(start + pauseMs + first.retryAfterMs + offsetMs)
            return rest - limit.take('key', rest).granted
          }
          if (countMissing(0) !== undefined) {
            expect(countMissing(0)).toBe(0)
            expect(countMissing(-1)).toBeGreaterThan(0)
          }
          const clock = clockAt(start)
          const limit = createLimit({ perSecond, burst, now: clock.now })
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

  test('grants the first calls of a batch that fit, and returns how many remain', () => {
    const clock = clockAt(0)
    const limit = createLimit({ perSecond: 25, now: clock.now })
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

  test('rejected calls take no tokens, however many there are', () => {
    const clock = clockAt(0)
    const limit = createLimit({ perSecond: 1, burst: 1, now: clock.now })
    limit.take('key')
    for (let ms = 1; ms < 1000; ms += 1) {
      clock.set(ms)
      expect(limit.take('key').granted).toBe(0)
    }
    clock.set(1000)
    expect(limit.take('key').granted).toBe(1)
  })

  test('each key has its own bucket', () => {
    const limit = createLimit({ perSecond: 1, now: () => 0 })
    expect([limit.take('a').granted, limit.take('a').granted, limit.take('b').granted]).toEqual([1, 0, 1])
  })

  test('a clock that steps back refills nothing', () => {
    const clock = clockAt(10_000)
    const limit = createLimit({ perSecond: 10, now: clock.now })
    expect(limit.take('key', 10).granted).toBe(10)
    clock.set(0)
    expect(limit.take('key', 10).granted).toBe(0)
    clock.set(10_100)
    expect(limit.take('key', 10).granted).toBe(1)
  })

  test('holds the buckets of the maxKeys keys that were used last', () => {
    const limit = createLimit({ perSecond: 1, maxKeys: 100, now: () => 0 })
    for (let index = 0; index < 1_000; index += 1) {
      expect(limit.take(`key-${index}`).granted).toBe(1)
      expect(limit.size).toBeLessThanOrEqual(100)
    }
    for (let index = 999; index >= 900; index -= 1) expect(limit.take(`key-${index}`).granted).toBe(0)
  })

  test('a key in use keeps its bucket while many other keys are used', () => {
    const limit = createLimit({ perSecond: 1, maxKeys: 10, now: () => 0 })
    limit.take('mine')
    for (let index = 0; index < 1_000; index += 1) {
      limit.take(`other-${index}`)
      expect(limit.take('mine').granted).toBe(0)
    }
  })

  test('applies separate limits to each key', () => {
    const rates = createRateLimiter({ now: () => 0 })
    expect(rates.take('a', { perSecond: 1, burst: 2 }, 5)).toMatchObject({ granted: 2, perSecond: 1, remaining: 0 })
    expect(rates.take('b', { perSecond: 100, burst: 50 }, 5)).toMatchObject({
      granted: 5,
      perSecond: 100,
      remaining: 45,
    })
    expect(rates.size).toBe(2)
  })

  test('with limits that change, grants at most what the widest limits would in any period', () => {
    const limits = fc.record({ perSecond: fc.integer({ min: 1, max: 200 }), burst: fc.integer({ min: 1, max: 100 }) })
    const steps = fc.array(fc.tuple(fc.nat(400), limits, fc.nat(150)), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(steps, (list) => {
        let time = 0
        const rates = createRateLimiter({ now: () => time })
        const widest = {
          perSecond: Math.max(...list.map(([, { perSecond }]) => perSecond)),
          burst: Math.max(...list.map(([, { burst }]) => burst)),
        }
        const granted: { at: number; count: number }[] = []
        for (const [pauseMs, one, calls] of list) {
          time += pauseMs
          const decision = rates.take('key', one, calls)
          expect(decision.granted).toBeGreaterThanOrEqual(0)
          expect(decision.granted).toBeLessThanOrEqual(Math.min(calls, one.burst))
          expect(decision.remaining).toBeGreaterThanOrEqual(0)
          expect(decision.retryAfterMs).toBeGreaterThanOrEqual(0)
          granted.push({ at: time, count: decision.granted })
          let count = 0
          for (const earlier of granted.toReversed()) {
            count += earlier.count
            expect(count * 1000).toBeLessThanOrEqual(widest.burst * 1000 + widest.perSecond * (time - earlier.at))
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  test('peeks at the next call without taking it', () => {
    let time = 0
    const rates = createRateLimiter({ now: () => time })
    const limits = { perSecond: 10, burst: 2 }
    expect(rates.peek('a', limits)).toEqual(createRateLimiter({ now: () => 0 }).take('a', limits, 1))
    expect(rates.size).toBe(0)
    expect(rates.take('a', limits, 2).granted).toBe(2)
    for (let round = 0; round < 3; round += 1)
      expect(rates.peek('a', limits)).toMatchObject({ granted: 0, remaining: 0, retryAfterMs: 100 })
    expect(rates.peek('a', limits)).toEqual(rates.take('a', limits, 1))
    time = 100
    expect(rates.peek('a', limits).granted).toBe(1)
    expect(rates.take('a', limits, 2).granted).toBe(1)
  })

  test('a burst lowered below the spent tokens rejects until they are refilled', () => {
    let time = 0
    const rates = createRateLimiter({ now: () => time })
    rates.take('key', { perSecond: 10, burst: 100 }, 100)
    const rejected = rates.take('key', { perSecond: 10, burst: 5 }, 1)
    expect(rejected).toMatchObject({ granted: 0, remaining: 0, retryAfterMs: 9_600 })
    time = 9_599
    expect(rates.take('key', { perSecond: 10, burst: 5 }, 1).granted).toBe(0)
    time = 9_600
    expect(rates.take('key', { perSecond: 10, burst: 5 }, 1).granted).toBe(1)
  })
})
