import { expect, test } from 'vitest'
import { createLogRanges } from './createLogRanges.ts'

test('remembers the limit of each upstream for ten minutes', () => {
  let time = 0
  const ranges = createLogRanges<string>(() => time)
  ranges.set('a', 100)
  expect([ranges.get('a'), ranges.get('b')]).toEqual([100, undefined])
  time = 599_999
  expect(ranges.get('a')).toBe(100)
  time = 600_000
  expect(ranges.get('a')).toBeUndefined()
})
