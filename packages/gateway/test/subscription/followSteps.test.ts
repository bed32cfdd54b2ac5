import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { getStart, nextTurn, pass, startFollower, toText, toTexts } from './startFollower.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('the head at the start is not a step; each new block is one, also blocks between two reads', async () => {
  const { first, steps } = await startFollower()
  await pass(5_000)
  expect(steps).toEqual([])
  first.mine(20)
  await pass(5_000)
  expect(toTexts(steps)).toEqual(Array.from({ length: 20 }, (_, index) => `+${200 + index}`))
})

describe.each(['null', 'error', 'blockBefore'] as const)(
  'numbers without a block, for which the node sends %s,',
  (withoutBlock) => {
    test('are left out: each block follows its parent', async () => {
      const { first, steps, faults } = await startFollower()
      first.withoutBlock = withoutBlock
      first.mine(1)
      await pass(5_000)
      first.mine(2, 2)
      await pass(5_000)
      // More than are read at once.
      first.mine(1, 20)
      first.mine(1)
      await pass(5_000)
      expect(toTexts(steps)).toEqual(['+200', '+203', '+204', '+225', '+226'])
      expect(faults).toEqual([])
    })

    test('can be part of a branch that is removed, and of the one that replaces it', async () => {
      const { first, steps } = await startFollower()
      first.withoutBlock = withoutBlock
      first.mine(1, 1)
      first.mine(1, 1)
      await pass(5_000)
      first.reorg(2, 0)
      first.mine(2, 2)
      await pass(5_000)
      expect(toTexts(steps)).toEqual(['+201', '+203', '-2 to 199', '+202', '+203'])
      first.reorg(1, 0)
      first.mine(2, 3)
      await pass(5_000)
      expect(toTexts(steps.slice(5))).toEqual(['-1 to 202', '+206', '+207'])
    })

    test('do not end a subscription that continues where it was, below where the chain was followed', async () => {
      const { first, follower, start, locate, createCursor } = await startFollower()
      first.withoutBlock = withoutBlock
      first.mine(2)
      const cursor = createCursor(first, 1)
      for (const skip of [2, 20, 35]) first.mine(1, skip)
      follower.stop()
      start()
      await pass(0)
      const located = locate({ cursor, logs: true })
      await pass(5_000)
      expect(getStart(located)).toEqual({ position: 200, blocks: [201, 204, 225, 261], haveLogs: true })
    })
  },
)

test('a branch is followed down to the ancestor, and back again: A, B, A', async () => {
  const { first, steps } = await startFollower()
  const branch = [...first.chain]
  first.reorg(3, 5)
  await pass(5_000)
  expect(toTexts(steps)).toEqual(['-3 to 196', '+197', '+198', '+199', '+200', '+201'])
  const other = [...first.chain]
  first.chain = branch
  first.mine(3)
  await pass(5_000)
  first.chain = other
  first.mine(4)
  await pass(5_000)
  expect(toTexts(steps.slice(6)).join(' ')).toBe(
    ['-5 to 196 +197 +198 +199 +200 +201 +202', '-6 to 196 +197 +198 +199 +200 +201 +202 +203 +204 +205'].join(' '),
  )
  const hashes = steps.flatMap((step) => (step.type === 'block' ? [step.block.hash] : []))
  expect(new Set(hashes).size).toBeLessThan(hashes.length)
})

test('removed blocks are those that were emitted, newest first', async () => {
  const { first, steps } = await startFollower()
  first.mine(2)
  await pass(5_000)
  const emitted = steps.flatMap((step) => (step.type === 'block' ? [step.block] : []))
  first.reorg(2, 1)
  await pass(5_000)
  expect(steps.slice(2).find(({ type }) => type === 'reorg')).toEqual({
    type: 'reorg',
    ancestor: { number: 199, hash: first.chain[199]?.hash },
    removed: emitted.toReversed(),
  })
})

test('each step has a turn of its own', async () => {
  const { first, follower } = await startFollower()
  follower.stop()
  let turn = 0
  const turns: number[] = []
  follower.start(() => turns.push(turn))
  await pass(0)
  first.mine(4)
  vi.advanceTimersByTime(2_000)
  for (; turn < 50; turn += 1) await nextTurn()
  expect(turns).toHaveLength(4)
  expect(new Set(turns).size).toBe(4)
})

test('nothing is emitted after the end, and a new start is at the head', async () => {
  const { first, follower, steps, start } = await startFollower()
  first.mine(1)
  follower.stop()
  await pass(5_000)
  const calls = first.calls.length
  await pass(60_000)
  expect([steps, first.calls.length]).toEqual([[], calls])
  start()
  start()
  await pass(0)
  first.mine(1)
  await pass(5_000)
  expect(toTexts(steps)).toEqual(['+201'])
})

test('a listener that stops the follower gets no more steps', async () => {
  const { first, follower } = await startFollower()
  follower.stop()
  const steps: string[] = []
  follower.start((step) => {
    steps.push(toText(step))
    follower.stop()
  })
  await pass(0)
  first.mine(5)
  await pass(5_000)
  expect(steps).toEqual(['+200'])
})

test('a node with a new head wakes the follower', async () => {
  let wake = (): void => {}
  let isListening = false
  const onHead = (listener: () => void): (() => void) => {
    wake = listener
    isListening = true
    return () => {
      isListening = false
    }
  }
  const { first, follower, steps } = await startFollower({ onHead })
  first.mine(1)
  await nextTurn()
  expect(steps).toEqual([])
  wake()
  await pass(0)
  expect(toTexts(steps)).toEqual(['+200'])
  follower.stop()
  expect(isListening).toBe(false)
})
