import { expect, test } from 'vitest'
import { percentile } from './checkLatency.ts'

test('percentile returns a measured value, by nearest rank', () => {
  const values = [5, 1, 4, 2, 3]
  expect([1, 20, 50, 90, 95, 100].map((percent) => percentile(values, percent))).toEqual([1, 1, 3, 5, 5, 5])
  expect(percentile([7], 95)).toBe(7)
})
