import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBufferedBytes } from '../../src/lib/memoryBudget.ts'
import type { ChainStep } from '../../src/proxy/subscription/followedChain.ts'
import { pass, startFollower, getStart, toText } from './startFollower.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('at the head, it calls back in the same turn', async () => {
  const { locate } = await startFollower()
  expect(locate({}).map((each) => each)).toEqual([{ position: expect.objectContaining({ number: 199 }), blocks: [] }])
})

test('a cursor starts at the newest common block, with the blocks above it', async () => {
  const { first, locate, createCursor } = await startFollower()
  const old = createCursor(first)
  first.reorg(2, 4)
  await pass(5_000)
  expect(getStart(locate({ cursor: old }))).toMatchObject({ position: 197, blocks: [198, 199, 200, 201] })
})

test('the next step continues from the blocks it found, also if `locate` is called in a step', async () => {
  const { first, follower } = await startFollower()
  follower.stop()
  const order: string[] = []
  follower.start((step) => {
    order.push(toText(step))
    follower.locate({ cursor: undefined, logs: false }, (start) => order.push(`start ${getStart([start]).position}`))
  })
  await pass(0)
  first.mine(2)
  await pass(5_000)
  first.reorg(1, 0)
  first.mine(1)
  await pass(5_000)
  expect(order.join(', ')).toBe('+200, start 200, +201, start 201, -1 to 200, start 200, +201, start 201')
})

test('blocks have logs from then on, until they are released', async () => {
  const { first, follower, steps, locate, createCursor } = await startFollower()
  const getLogs = (): number => first.calls.filter(({ method }) => method === 'eth_getLogs').length
  first.mine(1)
  await pass(5_000)
  expect(getLogs()).toBe(0)
  const results = locate({ cursor: createCursor(first, 3), logs: true })
  await pass(0)
  expect(getStart(results)).toEqual({ position: 197, blocks: [198, 199, 200], haveLogs: true })
  expect(getLogs()).toBe(3)
  first.mine(1)
  await pass(5_000)
  follower.releaseLogs()
  first.mine(1)
  await pass(5_000)
  expect(steps.map((step) => step.type === 'block' && step.block.logs !== undefined)).toEqual([false, true, false])
  expect(getLogs()).toBe(4)
  // The logs of a block are read once.
  const again = locate({ cursor: createCursor(first, 5), logs: true })
  await pass(0)
  expect(getStart(again)).toMatchObject({ position: 197, haveLogs: true })
  expect(getLogs()).toBe(5)
})

test('a release does not take the logs of a subscription that is about to start', async () => {
  const { first, follower, steps, locate, createCursor } = await startFollower()
  const results = locate({ cursor: createCursor(first, 3), logs: true })
  follower.releaseLogs()
  await pass(0)
  expect(getStart(results)).toMatchObject({ haveLogs: true })
  first.mine(1)
  await pass(5_000)
  expect(steps).toMatchObject([{ block: { logs: expect.any(Array) as unknown } }])
})

test('a block that was read before logs were needed gets them before it is emitted', async () => {
  const { first, follower } = await startFollower()
  follower.stop()
  const steps: ChainStep[] = []
  follower.start((step) => {
    steps.push(step)
    // After the next block was read, and before it is emitted.
    if (steps.length === 1) setImmediate(() => follower.locate({ cursor: undefined, logs: true }, () => {}))
  })
  await pass(0)
  first.mine(3)
  await pass(5_000)
  expect(steps.map((step) => step.type === 'block' && step.block.logs !== undefined)).toEqual([false, true, true])
})

test('blocks below the ring are loaded, down to 128 below the head', async () => {
  const { first, second, locate, createCursor } = await startFollower()
  const results = [locate({ cursor: createCursor(first, 128) }), locate({ cursor: createCursor(first, 100) })]
  await pass(0)
  expect(results.map(getStart).map(({ position, blocks }) => [position, blocks.length])).toEqual([
    [71, 128],
    [99, 100],
  ])
  const numbers = first.calls.filter(({ params }) => params !== '["latest",false]').map(({ params }) => params)
  expect([numbers.length, new Set(numbers).size]).toEqual([128, 128])
  expect(second.calls).toEqual([])
})

test('a cursor without a common block among the last 128 is too old', async () => {
  const { first, locate, createCursor } = await startFollower()
  const calls = first.calls.length
  expect(locate({ cursor: createCursor(first, 129) })).toEqual(['tooOld'])
  expect(first.calls.length).toBe(calls)
  const unknown = locate({ cursor: { number: 190, hashes: [`0x${'f'.repeat(64)}`] } })
  await pass(0)
  expect(unknown).toEqual(['tooOld'])
})

test.each([
  ['the blocks', 10_000, false],
  ['their logs', 130_000, true],
])(
  'a cursor is too old if the memory has no room for %s since then, and is not loaded again',
  async (_, ownMost, logs) => {
    const memory = createBufferedBytes('chain', { most: Infinity, ownMost })
    const { first, locate, createCursor } = await startFollower({ memory })
    const results = locate({ cursor: createCursor(first, 127), logs })
    await pass(5_000)
    expect(results).toEqual(['tooOld'])
    expect(first.calls.length).toBeLessThan(300)
    // What fits starts.
    const fits = locate({ cursor: createCursor(first, 2), logs })
    await pass(5_000)
    expect(getStart(fits)).toMatchObject({ position: 197, blocks: [198, 199] })
  },
)

test('on a short chain, it goes down to the first block', async () => {
  const { first, locate, createCursor } = await startFollower({}, 40)
  const results = locate({ cursor: createCursor(first, 39) })
  const unknown = locate({ cursor: { number: 10, hashes: [`0x${'f'.repeat(64)}`] } })
  await pass(0)
  expect(getStart(results)).toMatchObject({ position: 0 })
  expect(unknown).toEqual(['tooOld'])
})

test('a client that is ahead is waited for, and after two block times it gets the newest common block', async () => {
  const { first, second, locate, createCursor } = await startFollower()
  second.mine(2)
  const ahead = locate({ cursor: createCursor(second) })
  await pass(1_000)
  expect(ahead).toEqual([])
  first.chain = [...second.chain]
  await pass(2_000)
  expect(getStart(ahead)).toMatchObject({ position: 201, blocks: [] })
  second.mine(2)
  const lost = locate({ cursor: createCursor(second) })
  await pass(8_000)
  expect(getStart(lost)).toMatchObject({ position: 201, blocks: [] })
})

test('blocks that were loaded for a chain that has changed are loaded again', async () => {
  const { first, locate, createCursor } = await startFollower()
  const cursor = createCursor(first, 4)
  let isReorganized = false
  first.before = (method) => {
    if (method !== 'eth_getLogs' || isReorganized) return
    isReorganized = true
    first.reorg(2, 3)
  }
  const results = locate({ cursor, logs: true })
  await pass(5_000)
  expect(getStart(results)).toMatchObject({ position: 195, haveLogs: true })
})

test('without a node in time, it is unavailable', async () => {
  const { first, second, locate, createCursor } = await startFollower()
  for (const node of [first, second]) node.isDown = true
  const results = locate({ cursor: createCursor(first, 100) })
  const atHead = locate({})
  await pass(9_800)
  expect([results, getStart(atHead).position]).toEqual([[], 199])
  await pass(300)
  expect(results).toEqual(['unavailable'])
})

test('before the first block it waits, and the end makes it unavailable', async () => {
  const { first, follower, start, locate } = await startFollower()
  follower.stop()
  first.isDown = true
  const early = locate({})
  start()
  expect(early).toEqual([])
  await pass(100)
  expect(getStart(early)).toMatchObject({ position: 199 })
  follower.stop()
  const late = locate({})
  follower.stop()
  expect(late).toEqual(['unavailable'])
  await pass(20_000)
  expect(late).toEqual(['unavailable'])
})
