import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRateLimiter } from './createRateLimiter.ts'

describe('createRateLimiter', () => {
  test('holds each key to limits of its own', () => {
    const rates = createRateLimiter({ now: () => 0 })
    expect(rates.take('a', { perSecond: 1, burst: 2 }, 5)).toMatchObject({ granted: 2, perSecond: 1, remaining: 0 })
    expect(rates.take('b', { perSecond: 100, burst: 50 }, 5)).toMatchObject({
      granted: 5,
      perSecond: 100,
      remaining: 45,
    })
    expect(rates.size).toBe(2)
  })

  test('whatever limits come and go, grants from none to all, and in any second no more than the widest would', () => {
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
        for (const [wait, one, calls] of list) {
          time += wait
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
    for (let look = 0; look < 3; look += 1)
      expect(rates.peek('a', limits)).toMatchObject({ granted: 0, remaining: 0, retryAfterMs: 100 })
    expect(rates.peek('a', limits)).toEqual(rates.take('a', limits, 1))
    time = 100
    expect(rates.peek('a', limits).granted).toBe(1)
    expect(rates.take('a', limits, 2).granted).toBe(1)
  })

  test('a limit that was lowered below what is owed rejects until that is paid off', () => {
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
