import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLatency } from './breakerLatency.ts'

describe('createLatency', () => {
  test('returns nothing before it has enough samples', () => {
    const latency = createLatency()
    expect(latency.averageMs()).toBeUndefined()
    for (let i = 0; i < 19; i++) latency.add(10)
    expect(latency.percentileMs(95)).toBeUndefined()
    expect(latency.averageMs()).toBe(10)
    latency.add(10)
    expect(latency.percentileMs(95)).toBeGreaterThanOrEqual(10)
  })

  test('returns percentiles that are at most a fifth too high, and never too low', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.3, max: 100_000, noNaN: true }), { minLength: 20, maxLength: 500 }),
        fc.integer({ min: 1, max: 100 }),
        (times, percentile) => {
          const latency = createLatency()
          for (const ms of times) latency.add(ms)
          const exact = times.sort((a, b) => a - b)[Math.ceil((times.length * percentile) / 100) - 1] as number
          const measured = latency.percentileMs(percentile) as number
          expect(measured).toBeGreaterThanOrEqual(exact * (1 - 1e-9))
          expect(measured).toBeLessThanOrEqual(exact * 1.19)
        },
      ),
    )
  })

  test('counts zero and infinite times in its first and last bucket', () => {
    const latency = createLatency()
    for (let i = 0; i < 20; i++) latency.add(0)
    expect(latency.percentileMs(50)).toBeLessThan(1)
    for (let i = 0; i < 100; i++) latency.add(1e9)
    expect(latency.percentileMs(99)).toBeGreaterThan(100_000)
  })

  test('forgets old samples: slow calls of long ago do not count', () => {
    const latency = createLatency()
    for (let i = 0; i < 2_050; i++) latency.add(1_000)
    expect(latency.percentileMs(50)).toBeGreaterThanOrEqual(1_000)
    for (let i = 0; i < 6_000; i++) latency.add(10)
    expect(latency.percentileMs(50)).toBeLessThan(13)
    expect(latency.percentileMs(80)).toBeLessThan(13)
    expect(latency.averageMs()).toBeCloseTo(10)
  })
})
