import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../clock/now.ts'
import { blockNumber, createHeads, reportsHead } from './heads.ts'

const number = { method: 'eth_blockNumber', params: '[]' }
const latest = { method: 'eth_getBlockByNumber', params: '["latest",false]' }
const byNumber = { method: 'eth_getBlockByNumber', params: '["0x10",false]' }
const receipt = { method: 'eth_getTransactionReceipt', params: '["0xabc"]' }

describe('createHeads', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('learns the head from eth_blockNumber and the latest block', () => {
    const heads = createHeads(2)
    heads.learn(0, number, '0x10')
    expect(heads.of(0)).toEqual({ number: 16, at: now(), seen: 16 })
    heads.learn(1, latest, { number: '0x12', hash: '0x' })
    expect(heads.of(1)).toMatchObject({ number: 18, seen: 18 })
    expect(heads.highest()).toBe(18)
  })

  test('treats a block and a receipt as seen, not as the head', () => {
    const heads = createHeads(1)
    heads.learn(0, byNumber, { number: '0x10' })
    expect(heads.of(0)).toMatchObject({ number: 0, seen: 16 })
    heads.learn(0, receipt, { blockNumber: '0x11' })
    heads.learn(0, receipt, { blockNumber: '0x3' })
    expect(heads.of(0)).toMatchObject({ number: 0, seen: 17 })
    heads.learn(0, { method: 'eth_sendRawTransactionSync', params: '["0x02"]' }, { blockNumber: '0x20' })
    expect(heads.highest()).toBe(32)
  })

  test('keeps the higher head, and accepts a lower one only after a minute', () => {
    const heads = createHeads(1)
    heads.learn(0, number, '0x10')
    vi.advanceTimersByTime(59_000)
    heads.learn(0, number, '0xf')
    expect(heads.of(0)).toMatchObject({ number: 16, seen: 16 })
    vi.advanceTimersByTime(1_000)
    heads.learn(0, number, '0x1')
    expect(heads.of(0)).toEqual({ number: 1, at: now(), seen: 1 })
  })

  test('ignores values that are not block numbers', () => {
    const heads = createHeads(1)
    for (const result of [null, undefined, 5, '', '0x', '16', '0xzz', `0x${'f'.repeat(64)}`, {}, []])
      heads.learn(0, number, result)
    for (const result of [null, 'x', {}, { number: null }, { number: '0x' }]) heads.learn(0, latest, result)
    for (const result of [null, { blockNumber: null }]) heads.learn(0, receipt, result)
    expect(heads.highest()).toBe(0)
  })

  test('forgets an endpoint of another chain', () => {
    const heads = createHeads(2)
    heads.learn(0, number, '0x10')
    heads.learn(1, number, '0x999999')
    heads.drop(1)
    expect(heads.highest()).toBe(16)
  })
})

test('only some methods report the head', () => {
  expect([number, latest, receipt].every(({ method }) => reportsHead(method))).toBe(true)
  expect(reportsHead('eth_call')).toBe(false)
})

test('blockNumber reads what fits into a number', () => {
  expect(['0x0', '0x10', '0xFF', '0x1fffffffffffff', '0x20000000000001', '0x', 16, null].map(blockNumber)).toEqual([
    0,
    16,
    255,
    2 ** 53 - 1,
    0,
    0,
    0,
    0,
  ])
})
