import { expect, test } from 'vitest'
import getSlot from 'cluster-key-slot'

test.each([
  // The check value of CRC16 in the specification of Redis Cluster.
  ['123456789', 0x31c3],
  // The values of the others are from CLUSTER KEYSLOT of Redis 7.
  ['', 0],
  ['foo', 12_182],
  ['bar', 5_061],
  // Beyond ASCII, the bytes of UTF-8 count.
  ['schlüssel', 7_677],
])('the slot of "%s" is %i', (key, slot) => {
  expect(getSlot(key)).toBe(slot)
})

test.each([
  ['{user1000}.following', 'user1000'],
  ['foo{bar}{zap}', 'bar'],
  ['foo{{bar}}zap', '{bar'],
])('only the hash tag of "%s" counts', (key, tag) => {
  expect(getSlot(key)).toBe(getSlot(tag))
})

test.each(['foo{}{bar}', 'foo{bar', 'foo}bar{', '{}'])('"%s" has no hash tag', (key) => {
  expect(getSlot(key)).not.toBe(getSlot('bar'))
  expect(getSlot(key)).not.toBe(getSlot(''))
})
