import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLatencyHistogram, percentileMs } from './latencyHistogram.ts'
import type { LatencyStats } from './latencyHistogram.ts'

const createStats = (...times: number[]): LatencyStats => {
  const histogram = createLatencyHistogram()
  for (const ms of times) histogram.add(ms)
  return histogram.snapshot()
}

describe('createLatencyHistogram', () => {
  test('starts empty, without percentiles', () => {
    expect(createStats()).toMatchObject({ count: 0, sumMs: 0, maxMs: 0, p50Ms: null, p95Ms: null, p99Ms: null })
  })

  test('has bounds at six steps of each power of ten', () => {
    const { boundsMs } = createStats()
    expect(boundsMs.slice(0, 13)).toEqual([0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10])
    expect(boundsMs).toHaveLength(37)
    expect(boundsMs.at(-1)).toBe(100_000)
  })

  test('counts a duration up to the bound of its bucket, and one above all bounds in the last bucket', () => {
    const { boundsMs, counts } = createStats(0, 0.1, 0.11, 10, 10.1, 100_000, 100_001, 1e9)
    expect(counts).toHaveLength(boundsMs.length + 1)
    const filled = counts.flatMap((count, i) => (count ? [[boundsMs[i], count]] : []))
    expect(filled).toEqual([
      [0.1, 2],
      [0.15, 1],
      [10, 1],
      [15, 1],
      [100_000, 1],
      [undefined, 2],
    ])
  })

  test('returns snapshots that never change', () => {
    const histogram = createLatencyHistogram()
    histogram.add(5)
    const before = histogram.snapshot()
    const copy = structuredClone(before)
    histogram.add(5)
    expect(before).toEqual(copy)
    expect(histogram.snapshot().count).toBe(2)
  })

  test('estimates each percentile within the right bucket, and never above the longest duration', () => {
    const times = fc.array(fc.double({ min: 0, max: 90_000, noNaN: true }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(times, (given) => {
        const { boundsMs, count, sumMs, maxMs, ...rest } = createStats(...given)
        const sorted = given.toSorted((a, b) => a - b)
        expect(count).toBe(given.length)
        expect(sumMs).toBeCloseTo(given.reduce((sum, ms) => sum + ms, 0))
        expect(maxMs).toBe(sorted.at(-1))
        for (const [percentile, estimated] of [
          [50, rest.p50Ms],
          [95, rest.p95Ms],
          [99, rest.p99Ms],
        ] as const) {
          const exact = sorted[Math.ceil((given.length * percentile) / 100) - 1] as number
          const at = boundsMs.findIndex((bound) => exact <= bound)
          expect(estimated).toBeLessThanOrEqual(maxMs)
          expect(estimated).toBeGreaterThanOrEqual(Math.min(maxMs, boundsMs[at - 1] ?? 0))
          expect(estimated).toBeLessThanOrEqual(boundsMs[at] as number)
        }
      }),
    )
  })
})

describe('percentileMs', () => {
  test('measures the interval between two snapshots', () => {
    const histogram = createLatencyHistogram()
    for (let i = 0; i < 1_000; i++) histogram.add(1)
    const { counts: before } = histogram.snapshot()
    for (let i = 0; i < 10; i++) histogram.add(2_500)
    const { boundsMs, counts, p50Ms } = histogram.snapshot()
    expect(p50Ms).toBeLessThanOrEqual(1)
    const between = counts.map((count, i) => count - (before[i] as number))
    expect(percentileMs({ boundsMs, counts: between }, 50)).toBe(2_500)
  })

  test('interpolates linearly within a bucket', () => {
    const histogram = { boundsMs: [10, 20], counts: [0, 4, 0] }
    expect([0, 25, 50, 100].map((percentile) => percentileMs(histogram, percentile))).toEqual([10, 12.5, 15, 20])
  })

  test('returns the highest bound for longer durations, and null for none', () => {
    expect(percentileMs({ boundsMs: [10, 20], counts: [1, 0, 9] }, 50)).toBe(20)
    expect(percentileMs({ boundsMs: [10, 20], counts: [0, 0, 0] }, 50)).toBe(null)
  })
})
