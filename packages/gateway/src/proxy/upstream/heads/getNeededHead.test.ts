import { expect, test } from 'vitest'
import { getBatchNeededHead, getNeededHead } from './getNeededHead.ts'

const group = { several: true, highestHead: () => 100, supportedHead: () => 99 }

test.each([
  ['at the newest block: what the caller has seen', undefined, 99, 99],
  ['at the newest block, by a caller that has seen none', undefined, undefined, undefined],
  ['of a block: that block', 98, undefined, 98],
  ['of a block that no node has: the newest one', 105, undefined, 100],
  ['of a block that the caller has seen, but this instance has not', 105, 103, 103],
  ['of a hash: any node', 'hash', 99, undefined],
  ['of a transaction: any node', 'transaction', 99, undefined],
] as const)('a read %s', (_, pin, seenHead, needed) => {
  expect(getNeededHead({ method: 'eth_call', params: '[{}]' }, pin, { group, seenHead })).toBe(needed)
})

test('with one node there is nothing to choose', () => {
  expect(
    getNeededHead({ method: 'eth_call', params: '[{}]' }, 98, { group: { ...group, several: false } }),
  ).toBeUndefined()
})

test('a batch needs the newest block of its reads', () => {
  const toReads = (pins: readonly ('hash' | number | undefined)[]) =>
    pins.map((pin) => ({ call: { method: 'eth_call', params: '[{}]' }, read: { pin } }))
  expect(getBatchNeededHead(toReads(['hash', 7, undefined, 9]), { group, seenHead: 8 })).toBe(9)
  expect(getBatchNeededHead(toReads(['hash']), { group, seenHead: 8 })).toBeUndefined()
})

test.each([
  ['ends at a tag', '[{"fromBlock":"0x60","toBlock":"safe"}]', undefined, 0x60],
  ['ends at a tag, by a caller that has seen a newer block', '[{"fromBlock":"0x60","toBlock":"latest"}]', 99, 99],
  ['has no end', '[{"fromBlock":"0x60"}]', undefined, 0x60],
  ['starts at a tag', '[{"fromBlock":"finalized","toBlock":"0x60"}]', undefined, 0x60],
  ['starts above all heads', '[{"fromBlock":"0x6000"}]', undefined, 100],
  ['has only tags', '[{"fromBlock":"finalized","toBlock":"latest"}]', 99, 99],
  ['is one block by its hash', `[{"blockHash":"0x${'ab'.repeat(32)}"}]`, 99, undefined],
])('a read of logs whose range %s', (_, params, seenHead, needed) => {
  expect(getNeededHead({ method: 'eth_getLogs', params }, undefined, { group, seenHead })).toBe(needed)
})
