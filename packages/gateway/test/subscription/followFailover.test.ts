import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pass, startFollower, getStart, toTexts } from './startFollower.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('if the followed node fails, another one is followed at once', async () => {
  const { first, second, steps, faults } = await startFollower()
  second.chain = [...first.chain]
  second.mine(1)
  first.isDown = true
  await pass(2_500)
  expect([toTexts(steps), faults]).toEqual([['+200'], []])
})

test('a node with a wrong head, far above blocks that nobody has, is left for another one', async () => {
  const { nodes, first, second, steps, faults } = await startFollower()
  second.chain = [...first.chain]
  first.mine(1, 30_000_000)
  second.mine(2)
  await pass(20_000)
  expect([toTexts(steps), nodes.current(), faults]).toEqual([['+200', '+201'], second, []])
})

test('a lagging node is waited for as long as it catches up', async () => {
  const { first, second, steps } = await startFollower()
  first.mine(10)
  await pass(5_000)
  steps.length = 0
  const { chain } = first
  first.isDown = true
  for (const block of chain.slice(200)) {
    await pass(3_000)
    second.chain.push(block)
  }
  await pass(5_000)
  expect(steps).toEqual([])
  second.mine(1)
  await pass(5_000)
  expect(toTexts(steps)).toEqual(['+210'])
})

test('a node that stays lower is left for one that has the head', async () => {
  const { nodes, first, second, steps } = await startFollower()
  first.mine(3)
  await pass(5_000)
  steps.length = 0
  second.chain = [...first.chain]
  first.reorg(2, 0)
  await pass(60_000)
  expect([toTexts(steps), nodes.current()]).toEqual([[], second])
})

test('if no node has the blocks any more, the chain has become shorter', async () => {
  const { first, second, steps } = await startFollower()
  first.reorg(2, 0)
  second.isDown = true
  await pass(3_000)
  expect(steps).toEqual([])
  await pass(17_000)
  expect(toTexts(steps)).toEqual(['-2 to 197'])
  first.mine(1)
  await pass(5_000)
  expect(toTexts(steps)).toEqual(['-2 to 197', '+198'])
})

test('if both nodes are lower at different heights, the follower does not wait for ever', async () => {
  const { nodes, first, second, steps, locate } = await startFollower()
  first.reorg(2, 0)
  second.reorg(3, 0)
  await pass(120_000)
  expect(steps[0]?.type).toBe('reorg')
  expect(getStart(locate({}))).toMatchObject({ position: nodes.current().chain.length - 1 })
})

test('without a node for a minute, subscriptions are ended; later ones start at the head', async () => {
  const { first, second, faults, steps, locate } = await startFollower()
  for (const node of [first, second]) node.isDown = true
  await pass(58_000)
  expect(faults).toEqual([])
  await pass(8_000)
  expect(faults).toEqual(['nodeUnavailable'])
  await pass(64_000)
  expect(faults).toEqual(['nodeUnavailable', 'nodeUnavailable'])
  first.mine(500)
  second.chain = [...first.chain]
  for (const node of [first, second]) node.isDown = false
  await pass(10_000)
  expect(getStart(locate({}))).toMatchObject({ position: 699 })
  expect(steps).toEqual([])
})

test('logs that no node sends end subscriptions, too', async () => {
  const { first, second, faults, locate, steps } = await startFollower()
  locate({ logs: true })
  for (const node of [first, second]) node.lacks.add('eth_getLogs')
  first.mine(1)
  second.chain = [...first.chain]
  await pass(70_000)
  expect([steps, faults]).toEqual([[], ['nodeUnavailable']])
})

test('a reorganization below the ring ends subscriptions; later ones start at the new head', async () => {
  const { first, faults, steps, locate, createCursor } = await startFollower()
  locate({ cursor: createCursor(first, 120) })
  await pass(0)
  first.mine(5)
  await pass(5_000)
  steps.length = 0
  first.reorg(140, 141)
  await pass(5_000)
  expect([steps, faults]).toEqual([[], ['reorgTooDeep']])
  expect(getStart(locate({}))).toMatchObject({ position: 205 })
  first.mine(1)
  await pass(5_000)
  expect(toTexts(steps)).toEqual(['+206'])
})

test('a reorganization of 16 blocks soon after the start has its ancestor', async () => {
  const { first, faults, steps } = await startFollower()
  first.reorg(16, 17)
  await pass(5_000)
  expect([toTexts(steps)[0], faults]).toEqual(['-16 to 183', []])
})

test('a chain that starts again from its first block ends subscriptions', async () => {
  const { first, second, faults, locate } = await startFollower()
  second.isDown = true
  first.reorg(199, 3)
  await pass(60_000)
  expect(faults).toEqual(['reorgTooDeep'])
  expect(getStart(locate({}))).toMatchObject({ position: 3 })
})
