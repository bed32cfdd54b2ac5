import { expect, test } from 'vitest'
import { roundTop, spread } from './scale.ts'

test('the top of a chart holds everything, and is not far above it', () => {
  for (let most = 0; most < 100_000; most = most * 1.3 + 0.7) {
    const top = roundTop(most)
    expect(top).toBeGreaterThanOrEqual(most)
    expect(top).toBeLessThanOrEqual(Math.max(8, most * 1.501))
    expect(top % 4).toBe(0)
  }
})

test('what is a top itself is the top', () => {
  for (const most of [4, 8, 12, 100, 1_000, 2_400, 60_000]) expect(roundTop(most)).toBe(most)
})

test('marks begin at the first, and are never more than was asked for', () => {
  expect(spread(60, 6)).toEqual([0, 10, 20, 30, 40, 50])
  expect(spread(3, 6)).toEqual([0, 1, 2])
  expect(spread(0, 6)).toEqual([])
  for (let length = 0; length < 200; length += 1) expect(spread(length, 7).length).toBeLessThanOrEqual(7)
})
