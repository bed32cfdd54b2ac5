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

  test('counts what others take first', () => {
    const bucket = createTokenBucket(10, 100)
    expect(bucket.waitMs(1, 0, 3)).toBe(300)
  })

  test('lets a call that is larger than itself go when it is full, and pays the debt after it', () => {
    const bucket = createTokenBucket(10, 100)
    expect(bucket.waitMs(50, 0)).toBe(0)
    bucket.take(50, 0)
    expect(bucket.waitMs(50, 0)).toBe(5_000)
    expect(bucket.waitMs(1, 0)).toBe(5_000)
  })

  test('holds nothing back at an endless rate, and comes back to one', () => {
    const bucket = createTokenBucket(Infinity, 100)
    for (let i = 0; i < 1_000; i++) bucket.take(1, 5)
    expect(bucket.waitMs(1, 5)).toBe(0)
    bucket.setRate(10, 5)
    bucket.take(1, 5)
    expect(bucket.waitMs(1, 5)).toBe(100)
    bucket.setRate(Infinity, 5)
    expect(bucket.waitMs(1, 5)).toBe(0)
    expect(bucket.rate()).toBe(Infinity)
  })

  test('keeps what flowed in before the rate changed', () => {
    const bucket = createTokenBucket(10, 1_000)
    bucket.take(10, 0)
    bucket.setRate(1, 500)
    // Five came in at the old rate, and a slower bucket holds one.
    expect(bucket.waitMs(1, 500)).toBe(0)
    bucket.take(1, 500)
    expect(bucket.waitMs(1, 500)).toBe(1_000)
  })
})
