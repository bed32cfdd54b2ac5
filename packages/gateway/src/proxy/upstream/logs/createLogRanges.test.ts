import { expect, test } from 'vitest'
import { createLogRanges } from './createLogRanges.ts'

test('remembers the limit of each upstream for ten minutes', () => {
  let time = 0
  const ranges = createLogRanges<string>({ now: () => time })
  ranges.set('a', 100)
  expect([ranges.get('a'), ranges.get('b')]).toEqual([100, undefined])
  time = 599_999
  expect(ranges.get('a')).toBe(100)
  time = 600_000
  expect(ranges.get('a')).toBeUndefined()
})

test('has the limit of the config until an error shows a lower one, and after that was forgotten', () => {
  let time = 0
  const ranges = createLogRanges<string>({ getLimit: (name) => (name === 'a' ? 1_000 : undefined), now: () => time })
  expect([ranges.get('a'), ranges.get('b')]).toEqual([1_000, undefined])
  ranges.set('a', 10)
  expect(ranges.get('a')).toBe(10)
  time = 600_000
  expect(ranges.get('a')).toBe(1_000)
})
