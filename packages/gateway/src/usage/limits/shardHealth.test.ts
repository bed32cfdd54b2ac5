import { expect, test } from 'vitest'
import { createShardHealth, isHung, setConnected, setLost, seedDelayMs } from './shardHealth.ts'

const create = (connection: number, seedableAt = 0) => createShardHealth({ connection, seedableAt, now: 1_000 })

test('a shard that is connected is not lost', () => {
  expect(create(3, 7)).toEqual({ connection: 3, lostSince: undefined, lastReplyAt: 1_000, seedableAt: 7 })
})

test('a shard that was never connected is lost, and nothing settles after its first connection', () => {
  const shard = create(0)
  expect(shard).toEqual({ connection: 0, lostSince: 1_000, lastReplyAt: 1_000, seedableAt: 0 })
  expect(setConnected(shard, 5, 1_200)).toBe(true)
  expect(shard).toEqual({ connection: 5, lostSince: undefined, lastReplyAt: 1_200, seedableAt: 0 })
})

test('a shard is lost once, from the first time on', () => {
  const shard = create(1)
  expect(setLost(shard, 2_000)).toBe(true)
  expect(setLost(shard, 3_000)).toBe(false)
  expect(shard.lostSince).toBe(2_000)
})

test('after another connection, quotas are not seeded until all instances have written', () => {
  const lost = create(1)
  setLost(lost, 2_000)
  expect(setConnected(lost, 2, 5_000)).toBe(true)
  expect(lost).toEqual({ connection: 2, lostSince: undefined, lastReplyAt: 5_000, seedableAt: 5_000 + seedDelayMs })
  // Also if nobody noticed that the connection was lost.
  const reconnected = create(1)
  expect(setConnected(reconnected, 2, 5_000)).toBe(false)
  expect(reconnected.seedableAt).toBe(5_000 + seedDelayMs)
})

test('a shard hangs if nothing came back for as long as a request waits', () => {
  const shard = create(1)
  const isHungAt = (now: number, oldestSentAt: number): boolean =>
    isHung(shard, { oldestSentAt, patienceMs: 2_000, now })
  expect(isHungAt(4_999, 3_000)).toBe(false)
  expect(isHungAt(5_000, 3_000)).toBe(true)
  // Slow is not lost.
  shard.lastReplyAt = 3_500
  expect(isHungAt(5_499, 3_000)).toBe(false)
  expect(isHungAt(5_500, 3_000)).toBe(true)
})
