import { expect, test } from 'vitest'
import { durationBounds } from '../../../lib/createDurations.ts'
import { createOutcomes } from './createOutcomes.ts'

test('counts outcomes by kind, and durations by bucket', () => {
  const outcomes = createOutcomes()
  outcomes.add({ kind: 'result', latencyMs: 1, calls: 1 })
  outcomes.add({ kind: 'result', latencyMs: 1.1, calls: 4 })
  outcomes.add({ kind: 'timeout', latencyMs: 60_000, calls: 1 })
  expect([...outcomes.counts()]).toEqual([
    ['result', 5],
    ['timeout', 1],
  ])
  const { counts, sum } = outcomes.durations()
  expect(counts.slice(0, 3)).toEqual([1, 4, 0])
  expect(counts[durationBounds.length]).toBe(1)
  expect(sum).toBeCloseTo(60.0054)
})
