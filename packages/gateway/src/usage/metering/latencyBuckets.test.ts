import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bucketCount, toBucket, percentile } from './latencyBuckets.ts'

describe('latency buckets', () => {
  test('accept every number and never decrease as the latency grows', () => {
    for (const odd of [0, -1, Number.NaN, -Infinity]) expect(toBucket(odd)).toBe(0)
    for (const long of [70_000, 1e12, Infinity]) expect(toBucket(long)).toBe(bucketCount - 1)
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        (one, more) => {
          expect(toBucket(one + more)).toBeGreaterThanOrEqual(toBucket(one))
        },
      ),
    )
  })

  test('give a percentile within 19 % of the exact one', () => {
    const times = fc.array(fc.double({ min: 0.6, max: 60_000, noNaN: true }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(times, fc.constantFrom(0.5, 0.9, 0.95, 0.99), (list, share) => {
        const counts = Array.from({ length: bucketCount }, () => 0)
        for (const ms of list) counts[toBucket(ms)] = (counts[toBucket(ms)] ?? 0) + 1
        const exact = list.toSorted((one, other) => one - other)[Math.ceil(list.length * share) - 1] ?? 0
        const estimate = percentile(counts, share) ?? 0
        // Estimates are rounded to a tenth of a millisecond.
        expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(exact * 0.19 + 0.06)
      }),
    )
  })

  test('interpolate in a bucket', () => {
    const counts = Array.from({ length: bucketCount }, () => 0)
    counts[0] = 4
    // Half of 0 to 0.5 ms.
    expect(percentile(counts, 0.5)).toBe(0.3)
    counts[0] = 0
    counts[40] = 4
    // Half of 430.5 to 512 ms.
    expect(percentile(counts, 0.5)).toBe(471.3)
    expect(percentile(counts, 1)).toBe(512)
  })

  test('give no percentile without counts', () => {
    expect(
      percentile(
        Array.from({ length: bucketCount }, () => 0),
        0.5,
      ),
    ).toBeNull()
  })
})
