import { expect, test } from 'vitest'
import { methods } from '../../../lib/methods.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { readShownBlock } from './readShownBlock.ts'

const read = (method: string, params: string, value: unknown) => {
  const call = { method, params, traits: { idempotent: true, row: methods.get(method) } } as unknown as ForwardedCall
  return readShownBlock(call, { member: 'result', value: Buffer.from(JSON.stringify(value)) })
}
const logs = Array.from({ length: 3_000 }, (_, index) => ({
  data: `0x${'00'.repeat(64)}`,
  blockNumber: index < 2_900 ? '0x64' : '0x65',
  blockHash: '0x1',
}))

test('the highest block of a result is found, also at the end of a large one', () => {
  expect(read('eth_getLogs', '[{}]', logs.slice(-200))).toBe(0x65)
  expect(read('eth_getLogs', '[{}]', logs)).toBe(0x65)
  expect(read('eth_getLogs', '[{}]', ['0'.repeat(300 * 1024)])).toBe('unread')
})

test('blocks that are not mined do not count', () => {
  expect(read('eth_getBlockByNumber', '["pending",false]', { number: '0x65', hash: '0x1' })).toBe(0)
  expect(read('eth_getBlockByNumber', '["0x65",false]', { number: '0x65', hash: null })).toBe(0)
  const mined = { blockNumber: '0x64', blockHash: '0x1' }
  expect(read('eth_getLogs', '[{}]', [mined, { blockNumber: '0x65', blockHash: null }])).toBe(0x64)
})

test('decimal numbers in traces count', () => {
  expect(read('trace_filter', '[{}]', [{ blockNumber: 101, blockHash: '0x1' }])).toBe(101)
})
