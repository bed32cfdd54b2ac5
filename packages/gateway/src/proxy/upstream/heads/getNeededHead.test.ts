import { expect, test } from 'vitest'
import { getBatchNeededHead, getNeededHead } from './getNeededHead.ts'

const group = { several: true, highestHead: () => 100 }

test.each([
  ['at the newest block: what the caller has seen', undefined, 99, 99],
  ['at the newest block, by a caller that has seen none', undefined, undefined, undefined],
  ['of a block: that block', 98, undefined, 98],
  ['of a block that no node has: the newest one', 105, undefined, 100],
  ['of a block that the caller has seen, but this instance has not', 105, 103, 103],
  ['of a hash: any node', 'hash', 99, undefined],
  ['of a transaction: any node', 'transaction', 99, undefined],
] as const)('a read %s', (_, pin, seenHead, needed) => {
  expect(getNeededHead(pin, { group, seenHead })).toBe(needed)
})

test('with one node there is nothing to choose', () => {
  expect(getNeededHead(98, { group: { ...group, several: false } })).toBeUndefined()
})

test('a batch needs the newest block of its reads', () => {
  expect(getBatchNeededHead(['hash', 7, undefined, 9], { group, seenHead: 8 })).toBe(9)
  expect(getBatchNeededHead(['hash'], { group, seenHead: 8 })).toBeUndefined()
})
