import { expect, test } from 'vitest'
import { createOutcomes, durationBounds } from './createOutcomes.ts'

test('counts outcomes by kind, and durations by bucket', () => {
  const outcomes = createOutcomes()
  outcomes.add('result', 1)
  outcomes.add('result', 1.1)
  outcomes.add('timeout', 60_000)
  expect([...outcomes.counts()]).toEqual([
    ['result', 2],
    ['timeout', 1],
  ])
  const { counts, sum } = outcomes.durations()
  expect(counts.slice(0, 3)).toEqual([1, 1, 0])
  expect(counts[durationBounds.length]).toBe(1)
  expect(sum).toBeCloseTo(60.0021)
})
