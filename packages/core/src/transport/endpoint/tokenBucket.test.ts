import { describe, expect, test } from 'vitest'
import { createTokenBucket } from './tokenBucket.ts'

describe('createTokenBucket', () => {
  test('is full at first, and fills at its rate up to its size', () => {
    const bucket = createTokenBucket(10, 500)
    for (let i = 0; i < 5; i++) {
      expect(bucket.waitMs(1, 0)).toBe(0)
      bucket.take(1, 0)
    }
    expect(bucket.waitMs(1, 0)).toBe(100)
    expect(bucket.waitMs(1, 40)).toBeCloseTo(60)
    expect(bucket.waitMs(3, 40)).toBeCloseTo(260)
    expect(bucket.waitMs(5, 10_000)).toBe(0)
    bucket.take(5, 10_000)
    expect(bucket.waitMs(1, 10_000)).toBeCloseTo(100)
  })

  test('counts tokens that others take first', () => {
    const bucket = createTokenBucket(10, 100)
    expect(bucket.waitMs(1, 0, 3)).toBe(300)
  })

  test('sends a call that costs more than a full bucket, and the next calls wait longer', () => {
    const bucket = createTokenBucket(10, 100)
    expect(bucket.waitMs(50, 0)).toBe(0)
    bucket.take(50, 0)
    expect(bucket.waitMs(50, 0)).toBe(5_000)
    expect(bucket.waitMs(1, 0)).toBe(5_000)
  })

  test('never waits if it has no limit, even if the time goes back', () => {
    const bucket = createTokenBucket(Infinity, 100)
    bucket.take(1, 1e9)
    expect(bucket.waitMs(1, 0)).toBe(0)
    expect(bucket.waitMs(1, -1e9, 5)).toBe(0)
  })

  test('delays nothing at an infinite rate, and can get a finite one again', () => {
    const bucket = createTokenBucket(Infinity, 100)
    for (let i = 0; i < 1_000; i++) bucket.take(1, 5)
    expect(bucket.waitMs(1, 5)).toBe(0)
    bucket.rate = 10
    bucket.take(1, 5)
    expect(bucket.waitMs(1, 5)).toBe(100)
    bucket.rate = Infinity
    expect(bucket.waitMs(1, 205)).toBe(0)
  })

  test('keeps the wait after a large call when the rate changes', () => {
    const bucket = createTokenBucket(10, 1_000)
    bucket.take(15, 0)
    bucket.rate = 1
    expect(bucket.waitMs(1, 0)).toBe(1_500)
    expect(bucket.waitMs(1, 1_500)).toBe(0)
    bucket.take(1, 1_500)
    expect(bucket.waitMs(1, 1_500)).toBe(1_000)
  })

  test('returns tokens that were not used, up to its size', () => {
    const bucket = createTokenBucket(10, 100)
    bucket.take(1, 0)
    bucket.take(-1, 0)
    expect(bucket.waitMs(1, 0)).toBe(0)
    bucket.take(1, 0)
    bucket.take(-1, 5_000)
    bucket.take(1, 5_000)
    expect(bucket.waitMs(1, 5_000)).toBe(100)
  })
})
