import { describe, expect, test } from 'vitest'
import { median, medianInterval, medianRatio, shuffle } from './statistics.ts'

describe('median', () => {
  test('is the middle value, or the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([10, 9, 2, 1])).toBe(5.5)
    expect(median([7])).toBe(7)
  })

  test('does not change its input', () => {
    const values = [3, 1, 2]
    median(values)
    expect(values).toEqual([3, 1, 2])
  })
})

describe('medianRatio', () => {
  test('compares within each round, so that a slow round does no harm', () => {
    expect(medianRatio([11, 110, 12], [10, 100, 10])).toBeCloseTo(1.1)
    // The ratio of the medians would be 12 / 10.
  })
})

describe('medianInterval', () => {
  test('contains the median, is narrow if values agree, and is reproducible', () => {
    const values = Array.from({ length: 25 }, (_, n) => 10 + (n % 5) / 10)
    const [from, to] = medianInterval(values)
    expect(from).toBeLessThanOrEqual(median(values))
    expect(to).toBeGreaterThanOrEqual(median(values))
    expect(to - from).toBeLessThan(0.4)
    expect(medianInterval(values)).toEqual([from, to])
  })

  test('is the value if there is only one', () => {
    expect(medianInterval([3])).toEqual([3, 3])
  })
})

test('shuffle keeps every value, in any order', () => {
  const values = Array.from({ length: 50 }, (_, n) => n)
  const shuffled = shuffle(values)
  expect(shuffled).not.toEqual(values)
  expect(shuffled.sort((a, b) => a - b)).toEqual(values)
})
