import { expect, test } from 'vitest'
import { toNetworkBlock } from './toNetworkBlock.ts'

test.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['::ffff:203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8::/48'],
  ['2001:0:abcd::1', '2001:0:abcd::/48'],
  ['::1', '::/48'],
  ['office', undefined],
])('%s is in %s', (ip, block) => {
  expect(toNetworkBlock(ip)).toBe(block)
})
