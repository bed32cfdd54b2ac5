import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { GroupMember } from '../groupMember.ts'
import { followLatest } from './followLatest.ts'
import type { LatestBlock } from './followLatest.ts'

afterEach(() => void vi.useRealTimers())

const toBlock = (number: number, branch = 0): LatestBlock => ({
  number,
  hash: `0x${(number * 16 + branch).toString(16).padStart(64, '0')}`,
})
const anyBlock = { block: 0, since: -Infinity }

/** Starts a follower of a node whose newest block a test sets. */
const start = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], now: 100_000 })
  const node = { newest: toBlock(100), isDead: false, queries: 0 }
  const upstream = {
    backoff: { isPaused: () => false },
    drawForQuery: () => true,
    hasRoomForQuery: () => true,
    getQueryUnits: () => 1,
    post: ({ done }: { done: (fault: string | undefined, response?: object) => void }) => {
      node.queries += 1
      const { number, hash } = node.newest
      const block = { number: `0x${number.toString(16)}`, hash, timestamp: `0x${(number * 2).toString(16)}` }
      const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: block }))
      if (node.isDead) done('broken')
      else done(undefined, { status: 200, body })
      return () => {}
    },
  }
  const member = { upstream, sawHead: () => true, hashSupport: undefined } as unknown as GroupMember
  const follower = followLatest({
    timeoutMs: 1_000,
    pick: (_, tried) => (tried.includes(member) ? undefined : member),
  })
  onTestFinished(follower.stop)
  return { node, follower }
}

test('a lower block does not count, and at the same height each block counts once', async () => {
  const { node, follower } = start()
  expect(follower.get(anyBlock)).toBeUndefined()
  expect(await follower.wait(anyBlock, 1)).toMatchObject(toBlock(100))
  node.newest = toBlock(99)
  await follower.wait({ block: 0, since: performance.now() }, 1)
  expect(follower.get(anyBlock)).toMatchObject(toBlock(100))
  follower.adopt(toBlock(100, 1))
  expect(follower.get(anyBlock)).toMatchObject(toBlock(100, 1))
  follower.adopt(toBlock(100))
  expect(follower.get(anyBlock)).toMatchObject(toBlock(100, 1))
  follower.adopt(toBlock(101))
  expect(follower.get(anyBlock)).toMatchObject(toBlock(101))
})

test('a lower block counts once nothing has confirmed the higher one for ten seconds', async () => {
  const { node, follower } = start()
  await follower.wait(anyBlock, 1)
  node.newest = toBlock(3)
  vi.advanceTimersByTime(9_000)
  expect(await follower.wait(anyBlock, 1)).toBeUndefined()
  vi.advanceTimersByTime(1_000)
  expect(await follower.wait(anyBlock, 1)).toMatchObject(toBlock(3))
})

test('a block counts while a node confirms it within two block times', async () => {
  const { node, follower } = start()
  await follower.wait(anyBlock, 1)
  node.isDead = true
  vi.advanceTimersByTime(4_000)
  expect(follower.get(anyBlock)).toMatchObject(toBlock(100))
  vi.advanceTimersByTime(1)
  expect(follower.get(anyBlock)).toBeUndefined()
})

test('a caller that needs a later block, or one that is confirmed later, waits until a node reports it', async () => {
  const { node, follower } = start()
  await follower.wait(anyBlock, 1)
  expect(follower.get({ block: 101, since: -Infinity })).toBeUndefined()
  const found = follower.wait({ block: 101, since: -Infinity }, 3)
  node.newest = toBlock(101)
  await vi.advanceTimersByTimeAsync(100)
  expect(await found).toMatchObject(toBlock(101))
  const since = performance.now()
  expect(follower.get({ block: 0, since })).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(await follower.wait({ block: 0, since }, 1)).toMatchObject(toBlock(101))
})

test('for a block that no node has, nodes are queried once a second', async () => {
  const { node, follower } = start()
  const wait = async (): Promise<LatestBlock | undefined> => {
    const found = follower.wait({ block: 105, since: -Infinity }, 2)
    await vi.advanceTimersByTimeAsync(50)
    return found
  }
  expect(await wait()).toBeUndefined()
  const before = node.queries
  expect(await wait()).toBeUndefined()
  expect(node.queries).toBe(before)
  await vi.advanceTimersByTimeAsync(1_000)
  node.newest = toBlock(105)
  expect(await wait()).toMatchObject(toBlock(105))
})
