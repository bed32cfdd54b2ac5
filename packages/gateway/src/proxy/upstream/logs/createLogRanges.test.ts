import { expect, test } from 'vitest'
import type { GroupMember } from '../groupMember.ts'
import { createLogRanges } from './createLogRanges.ts'

test('remembers the limit of each upstream for ten minutes', () => {
  let time = 0
  const ranges = createLogRanges(() => time)
  const [one, other] = [{ name: 'a' }, { name: 'b' }] as unknown as [GroupMember, GroupMember]
  ranges.set(one, 100)
  expect([ranges.get(one), ranges.get(other)]).toEqual([100, undefined])
  time = 599_999
  expect(ranges.get(one)).toBe(100)
  time = 600_000
  expect(ranges.get(one)).toBeUndefined()
})
