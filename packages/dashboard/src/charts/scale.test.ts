import { expect, test } from 'vitest'
import { roundTop, spread } from './scale.ts'

test('the top of a chart holds everything, and is not far above it', () => {
  for (let most = 0; most < 100_000; most = most * 1.3 + 0.7) {
    const top = roundTop(most)
    expect(top).toBeGreaterThanOrEqual(most)
    expect(top).toBeLessThanOrEqual(Math.max(4, most * 2.001))
    expect(top % 4 === 0 || top < 100).toBe(true)
  }
})

test('marks begin at the first, and are never more than was asked for', () => {
  expect(spread(60, 6)).toEqual([0, 10, 20, 30, 40, 50])
  expect(spread(3, 6)).toEqual([0, 1, 2])
  expect(spread(0, 6)).toEqual([])
  for (let length = 0; length < 200; length += 1) expect(spread(length, 7).length).toBeLessThanOrEqual(7)
})
