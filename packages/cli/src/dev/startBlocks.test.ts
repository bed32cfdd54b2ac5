import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createUse, startBlocks } from './startBlocks.ts'
import type { ServiceLogEntry } from './startBlocks.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const minute = 60_000
const request: ServiceLogEntry = { event: 'request', requestId: 'r', status: 200, durationMs: 1 }
const socket = { event: 'webSocket', requestId: 'r', network: 'testnet', keyId: 'k' } as const
const opened: ServiceLogEntry = { ...socket, state: 'opened' }
const closed: ServiceLogEntry = {
  ...socket,
  state: 'closed',
  reason: 'client',
  code: 1000,
  requests: 1,
  notifications: 0,
  durationMs: 1,
}

const start = (use = createUse(Date.now)) => {
  let mined = 0
  const stop = startBlocks({
    seconds: 2,
    isIdle: use.isIdle,
    now: Date.now,
    mine: async () => {
      mined += 1
    },
  })
  return {
    use,
    stop,
    countBlocks: async (ms: number): Promise<number> => {
      const before = mined
      await vi.advanceTimersByTimeAsync(ms)
      return mined - before
    },
  }
}

test('the block number grows while somebody may be watching', async () => {
  const { countBlocks, stop } = start()
  expect(await countBlocks(10_000)).toBe(5)
  stop()
  expect(await countBlocks(10_000)).toBe(0)
})

test('a night without a request mines one block a minute, and the next request the usual ones', async () => {
  const { countBlocks, use } = start()
  await countBlocks(15 * minute)
  expect(await countBlocks(8 * 60 * minute)).toBe(8 * 60)
  use.observe(request)
  expect(await countBlocks(minute)).toBe(30)
})

test('an open WebSocket is use, also if it sends nothing', async () => {
  const { countBlocks, use } = start()
  use.observe(opened)
  await countBlocks(60 * minute)
  expect(await countBlocks(minute)).toBe(30)
  use.observe(closed)
  await countBlocks(15 * minute)
  expect(await countBlocks(10 * minute)).toBe(10)
})

test('a node that does not respond gets a request for one block at a time, and a failure does not stop the blocks', async () => {
  const failures: ((error: Error) => void)[] = []
  startBlocks({
    seconds: 2,
    isIdle: () => false,
    now: Date.now,
    mine: () => new Promise<void>((_resolve, reject) => failures.push(reject)),
  })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(failures).toHaveLength(1)
  failures[0]?.(new Error('no response'))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(failures).toHaveLength(2)
})
