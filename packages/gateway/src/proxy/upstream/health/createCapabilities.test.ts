import { describe, expect, test } from 'vitest'
import { createCapabilities } from './createCapabilities.ts'
import type { CapabilityOptions, StateTest } from './createCapabilities.ts'

/** @param testState - How the node responds to tests. By default it does not. */
const start = (options: CapabilityOptions = {}, testState: () => boolean | undefined = () => undefined) => {
  let at = 0
  const tests: StateTest[] = []
  const capabilities = createCapabilities(options, {
    head: () => 1_000,
    testState: async (test) => {
      tests.push(test)
      return testState()
    },
    now: () => at,
  })
  return { capabilities, tests, pass: (ms: number) => (at += ms) }
}
const toText = (block: number | string): string => (typeof block === 'number' ? `0x${block.toString(16)}` : block)
const balanceAt = (block: number | string) => ({ method: 'eth_getBalance', params: `["0x00","${toText(block)}"]` })
const proofAt = (block: number) => ({ method: 'eth_getProof', params: `["0x00",[],"${toText(block)}"]` })
const missingAt = (block: number, ownerId = 'one') => ({ ...balanceAt(block), kind: 'missingData', ownerId }) as const

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
    expect(start(options).capabilities.canServe(balanceAt(block))).toBe(able)
  })

  test('gets calls for any state while its head is unknown, unless it is before the earliest', () => {
    const capabilities = createCapabilities(
      { recentStateBlocks: 128, earliestState: 10 },
      {
        head: () => undefined,
        testState: async () => undefined,
      },
    )
    expect([9, 10].map((block) => capabilities.canServe(balanceAt(block)))).toEqual([false, true])
  })

  test('can serve blocks, logs and receipts before its earliest state', () => {
    const { capabilities } = start({ earliestState: 100 })
    expect(capabilities.canServe({ method: 'eth_getBlockByNumber', params: '["0x1",false]' })).toBe(true)
    expect(capabilities.canServe({ method: 'eth_getLogs', params: '[{"fromBlock":"0x1","toBlock":"0x1"}]' })).toBe(true)
    expect(capabilities.canServe({ method: 'eth_getBlockReceipts', params: '["0x1"]' })).toBe(true)
  })
})

describe('a node that lacked', () => {
  const lacksProofs = (ownerId: string) => ({ method: 'eth_getProof', kind: 'methodUnavailable', ownerId }) as const
  const proof = { method: 'eth_getProof' }

  test('a method of one owner gets it from others, but from that owner only after ten minutes', () => {
    const { capabilities, pass } = start()
    capabilities.learn(lacksProofs('one'))
    expect(capabilities.canServe(proof, 'one')).toBe(false)
    expect(capabilities.canServe(proof, 'two')).toBe(true)
    expect(capabilities.canServe({ method: 'eth_call' }, 'one')).toBe(true)
    pass(599_999)
    expect(capabilities.canServe(proof, 'one')).toBe(false)
    pass(1)
    expect(capabilities.canServe(proof, 'one')).toBe(true)
  })

  test('a method of two owners gets it from nobody', () => {
    const { capabilities } = start()
    for (const owner of ['one', 'one', 'two']) capabilities.learn(lacksProofs(owner))
    expect(capabilities.canServe(proof, 'three')).toBe(false)
  })

  test('a method gets it again once it had a result', () => {
    const { capabilities } = start()
    for (const owner of ['one', 'two']) capabilities.learn(lacksProofs(owner))
    capabilities.learn({ method: 'eth_getProof', kind: 'result', ownerId: 'three' })
    expect(capabilities.canServe(proof, 'one')).toBe(true)
  })

  test('a method that is not in the schema is not remembered', () => {
    const { capabilities } = start()
    capabilities.learn({ method: 'anvil_any', kind: 'methodUnavailable', ownerId: 'one' })
    expect(capabilities.canServe({ method: 'anvil_any' }, 'one')).toBe(true)
  })

  test('state does not get calls of that method and owner for that and older state for ten minutes', () => {
    const { capabilities, pass } = start()
    capabilities.learn(missingAt(800))
    const can = (block: number | string, ownerId = 'one') => capabilities.canServe(balanceAt(block), ownerId)
    expect([799, 800, 801, 'latest'].map((block) => can(block))).toEqual([false, false, true, true])
    expect(can(700, 'two')).toBe(true)
    expect(capabilities.canServe(proofAt(700), 'one')).toBe(true)
    pass(600_000)
    expect(can(800)).toBe(true)
  })

  test('state for two owners does not get calls for what both missed', () => {
    const { capabilities } = start()
    capabilities.learn(missingAt(990, 'one'))
    capabilities.learn(missingAt(800, 'two'))
    expect([990, 801, 800, 700].map((block) => capabilities.canServe(balanceAt(block), 'three'))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  test('state for one owner, however often, gets the calls of others', () => {
    const { capabilities } = start()
    for (let block = 0; block < 1_000; block += 1) capabilities.learn(missingAt(block))
    expect(capabilities.canServe(balanceAt(500), 'two')).toBe(true)
  })

  test('a node that responded with state has it, but may lack older state', () => {
    const { capabilities } = start()
    capabilities.learn(missingAt(800))
    capabilities.learn({ ...balanceAt(500), kind: 'result', ownerId: 'two' })
    expect([499, 500, 800].map((block) => capabilities.canServe(balanceAt(block), 'one'))).toEqual([false, true, true])
  })

  test('the state of a block that it does not have yet teaches nothing', () => {
    const { capabilities } = start()
    capabilities.learn(missingAt(1_001))
    expect(capabilities.canServe(balanceAt(1_001), 'one')).toBe(true)
  })

  test('state is tested by a cheap read once a minute while calls skip it, and gets calls once it has it', async () => {
    let hasState = false
    const { capabilities, tests, pass } = start({}, () => hasState)
    for (const owner of ['one', 'two']) capabilities.learn(missingAt(800, owner))
    const canServe = async (): Promise<boolean> => {
      const can = capabilities.canServe(balanceAt(800), 'three')
      await Promise.resolve()
      return can
    }
    expect([await canServe(), await canServe()]).toEqual([false, false])
    expect(tests).toEqual([{ method: 'eth_getBalance', params: `["0x${'0'.repeat(40)}","0x320"]` }])
    pass(60_000)
    await canServe()
    expect(tests).toHaveLength(2)
    // Each test that finds it missing counts like a report.
    pass(599_999)
    expect(await canServe()).toBe(false)
    hasState = true
    pass(60_000)
    await canServe()
    expect(await canServe()).toBe(true)
  })

  test('state and was replaced by an archive gets calls for all of it without waiting for a test of each', async () => {
    const { capabilities, tests } = start({}, () => true)
    for (const owner of ['one', 'two']) capabilities.learn(missingAt(800, owner))
    for (const block of [700, 500, 1]) {
      expect(capabilities.canServe(balanceAt(block), 'three')).toBe(false)
      await Promise.resolve()
      await Promise.resolve()
      expect(capabilities.canServe(balanceAt(block), 'three')).toBe(true)
      capabilities.learn({ ...balanceAt(block), kind: 'result', ownerId: 'three' })
    }
    expect(tests).toHaveLength(3)
  })

  test('state that the test finds, although calls do not, is tested once a minute', async () => {
    const { capabilities, tests, pass } = start({}, () => true)
    for (let round = 0; round < 50; round += 1) {
      capabilities.learn(missingAt(800))
      expect(capabilities.canServe(balanceAt(800), 'one')).toBe(false)
      await Promise.resolve()
      await Promise.resolve()
      // Newer state says nothing about that of this block.
      capabilities.learn({ ...balanceAt(900), kind: 'result', ownerId: 'one' })
    }
    expect(tests).toHaveLength(1)
    pass(60_000)
    capabilities.canServe(balanceAt(800), 'one')
    expect(tests).toHaveLength(2)
  })

  test('proofs is tested by a proof, and traces by nothing', async () => {
    const { capabilities, tests } = start()
    const trace = { method: 'trace_block', params: '["0x320"]' }
    for (const call of [proofAt(800), trace]) {
      capabilities.learn({ ...call, kind: 'missingData', ownerId: 'one' })
      expect(capabilities.canServe(call, 'one')).toBe(false)
    }
    expect(tests).toEqual([{ method: 'eth_getProof', params: `["0x${'0'.repeat(40)}",[],"0x320"]` }])
  })
})
