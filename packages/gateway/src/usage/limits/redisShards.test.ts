import { expect, test } from 'vitest'
import { createRedisShards } from './redisShards.ts'
import type { RedisShardsOptions } from './redisShards.ts'
import { seedDelayMs } from './shardHealth.ts'

/** Shards whose connections and clock the test controls. Keys are named after their shard: `a:1` is on shard `a`. */
const start = (...connected: readonly string[]) => {
  const clock = { now: 1_000 }
  const ready = new Set(connected)
  const events: string[] = []
  let listener: (shard: string) => void = () => {}
  let replies = true
  const getShard = (key: string): string => key.slice(0, 1)
  const redis = {
    getShard,
    isReady: (key: string) => ready.has(getShard(key)),
    onReady: (given: (shard: string) => void) => (listener = given),
    client: { exists: () => (replies ? Promise.resolve(0) : Promise.reject(new Error('lost'))) },
  } as unknown as RedisShardsOptions['redis']
  const shards = createRedisShards({
    redis,
    clock: () => clock.now,
    patienceMs: 2_000,
    onLost: () => events.push('lost'),
    onReady: (name) => events.push(`ready ${name}`),
    onConnected: ({ key }, wasLost) => events.push(`connected ${key} ${wasLost ? 'again' : 'still'}`),
  })
  return {
    shards,
    clock,
    events,
    disconnect: (name: string) => ready.delete(name),
    connect: (name: string) => {
      ready.add(name)
      listener(name)
    },
    setReplies: (given: boolean) => (replies = given),
  }
}
const none = new Map<never, number>()

test('keys of one shard share its state, and each connection has a number of its own', () => {
  const { shards } = start('a', 'b')
  expect(shards.get('a:1')).toBe(shards.get('a:2'))
  expect([shards.get('a:1').connection, shards.get('b:1').connection]).toEqual([1, 2])
})

test('a shard whose connection is lost is lost once, and back when it is ready', () => {
  const { shards, events, disconnect, connect, clock } = start('a')
  const shard = shards.get('a:1')
  disconnect('a')
  shards.check(none)
  shards.check(none)
  shards.lose(shard)
  expect([shards.isAnyLost(), events]).toEqual([true, ['lost']])
  clock.now = 5_000
  connect('a')
  expect([shards.isAnyLost(), events]).toEqual([false, ['lost', 'ready a', 'connected a:1 again']])
  expect(shard).toMatchObject({ connection: 2, seedableAt: 5_000 + seedDelayMs })
})

test('a shard that was never connected is lost, but nothing degrades', () => {
  const { shards, events, connect } = start()
  expect(shards.get('a:1')).toMatchObject({ connection: 0, lostSince: 1_000 })
  shards.check(none)
  connect('a')
  expect(events).toEqual(['ready a', 'connected a:1 again'])
})

test('a shard that hangs is lost until it replies to a query', async () => {
  const { shards, events, clock, setReplies } = start('a', 'b')
  const shard = shards.get('a:1')
  const other = shards.get('b:1')
  clock.now = 3_000
  setReplies(false)
  shards.check(new Map([[shard, 1_000]]))
  expect([shard.lostSince, other.lostSince, events]).toEqual([3_000, undefined, ['lost']])
  await new Promise(setImmediate)
  expect(shards.isAnyLost()).toBe(true)
  setReplies(true)
  shards.check(none)
  await new Promise(setImmediate)
  expect([shards.isAnyLost(), events]).toEqual([false, ['lost', 'connected a:1 again']])
})

test('a shard that appears after the start is not seeded until all instances have written', () => {
  const { shards, connect, clock } = start('a')
  clock.now = 1_000 + seedDelayMs + 1
  connect('b')
  expect(shards.get('b:1').seedableAt).toBe(clock.now + seedDelayMs)
  expect(shards.get('a:1').seedableAt).toBe(0)
})
