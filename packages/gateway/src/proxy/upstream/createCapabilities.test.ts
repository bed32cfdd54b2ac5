import { describe, expect, test } from 'vitest'
import { createCapabilities } from './createCapabilities.ts'
import type { Capabilities, CapabilityOptions } from './createCapabilities.ts'

const start = (options: CapabilityOptions = {}): { capabilities: Capabilities; pass: (ms: number) => void } => {
  let at = 0
  return { capabilities: createCapabilities(options, { head: () => 1_000, now: () => at }), pass: (ms) => (at += ms) }
}
const balanceAt = (block: number | string): [method: string, params: string] => [
  'eth_getBalance',
  `["0x00","${typeof block === 'number' ? `0x${block.toString(16)}` : block}"]`,
]
const missingAt = (block: number) => {
  const [method, params] = balanceAt(block)
  return { method, params, kind: 'missingData' } as const
}

describe('a node', () => {
  test.each<[offered: boolean, method: string, options: CapabilityOptions]>([
    [true, 'eth_call', {}],
    [true, 'debug_traceCall', {}],
    [false, 'debug_traceCall', { debug: false }],
    [true, 'trace_call', { debug: false }],
    [false, 'trace_call', { trace: false }],
    [false, 'txpool_status', { txpool: false }],
    [true, 'txpool_status', { trace: false }],
    [false, 'eth_getLogs', { denyMethods: ['eth_getLogs'] }],
    [true, 'eth_call', { denyMethods: ['eth_getLogs'] }],
    [true, 'eth_call', { allowMethods: ['eth_call'] }],
    [false, 'eth_getLogs', { allowMethods: ['eth_call'] }],
    [false, 'eth_call', { allowMethods: ['eth_call'], denyMethods: ['eth_call'] }],
  ])('offers (%s) %s with %j', (offered, method, options) => {
    expect(start(options).capabilities.offers(method)).toBe(offered)
  })

  test.each<[able: boolean, block: number | string, options: CapabilityOptions]>([
    [true, 0, {}],
    [true, 100, { earliestState: 100 }],
    [false, 99, { earliestState: 100 }],
    [true, 'latest', { earliestState: 100 }],
    [true, `0x${'a'.repeat(64)}`, { earliestState: 100 }],
    [true, 873, { recentStateBlocks: 128 }],
    [false, 872, { recentStateBlocks: 128 }],
    [false, 900, { recentStateBlocks: 128, earliestState: 901 }],
  ])('can serve (%s) the state of %s at head 1000 with %j', (able, block, options) => {
    expect(start(options).capabilities.canServe(...balanceAt(block))).toBe(able)
  })

  test('gets calls for any state while its head is unknown, unless it is before the earliest', () => {
    const capabilities = createCapabilities({ recentStateBlocks: 128, earliestState: 10 }, { head: () => undefined })
    expect([9, 10].map((block) => capabilities.canServe(...balanceAt(block)))).toEqual([false, true])
  })

  test('can serve blocks, logs and receipts before its earliest state', () => {
    const { capabilities } = start({ earliestState: 100 })
    expect(capabilities.canServe('eth_getBlockByNumber', '["0x1",false]')).toBe(true)
    expect(capabilities.canServe('eth_getLogs', '[{"fromBlock":"0x1","toBlock":"0x1"}]')).toBe(true)
    expect(capabilities.canServe('eth_getBlockReceipts', '["0x1"]')).toBe(true)
  })
})

describe('a node that lacked', () => {
  test('a method does not get it for ten minutes', () => {
    const { capabilities, pass } = start()
    capabilities.learn({ method: 'eth_getProof', kind: 'methodUnavailable' })
    expect(capabilities.canServe('eth_getProof')).toBe(false)
    expect(capabilities.canServe('eth_call')).toBe(true)
    pass(599_999)
    expect(capabilities.canServe('eth_getProof')).toBe(false)
    pass(1)
    expect(capabilities.canServe('eth_getProof')).toBe(true)
  })

  test('a method gets it again once it had a result', () => {
    const { capabilities } = start()
    capabilities.learn({ method: 'eth_getProof', kind: 'methodUnavailable' })
    capabilities.learn({ method: 'eth_getProof', kind: 'result' })
    expect(capabilities.canServe('eth_getProof')).toBe(true)
  })

  test('a method that is not in the schema is not remembered', () => {
    const { capabilities } = start()
    capabilities.learn({ method: 'anvil_any', kind: 'methodUnavailable' })
    expect(capabilities.canServe('anvil_any')).toBe(true)
  })

  test('state does not get calls for that and older state for ten minutes', () => {
    const { capabilities, pass } = start()
    capabilities.learn(missingAt(800))
    expect([799, 800, 801].map((block) => capabilities.canServe(...balanceAt(block)))).toEqual([false, false, true])
    expect(capabilities.canServe(...balanceAt('latest'))).toBe(true)
    pass(600_000)
    expect(capabilities.canServe(...balanceAt(800))).toBe(true)
  })

  test('a node that responded with state has it, but may lack older state', () => {
    const { capabilities } = start()
    capabilities.learn(missingAt(800))
    const [method, params] = balanceAt(500)
    capabilities.learn({ method, params, kind: 'result' })
    expect([499, 500, 800].map((block) => capabilities.canServe(...balanceAt(block)))).toEqual([false, true, true])
  })

  test('the state of a block that it does not have yet teaches nothing', () => {
    const { capabilities } = start()
    capabilities.learn(missingAt(1_001))
    expect(capabilities.canServe(...balanceAt(1_001))).toBe(true)
  })
})
