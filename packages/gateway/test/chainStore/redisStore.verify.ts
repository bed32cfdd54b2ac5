import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { startRedisCluster } from '../usage/startRedisCluster.ts'
import { addPurgedNode, openFuzzedRedis, openTestRedisStore, startCacheRedis } from './openTestRedis.ts'
import type { CacheRedis } from './openTestRedis.ts'
import { fuzzStore, toConfirmedStore } from './storeFuzz.ts'

const nothingWrong = { wrong: 0, firstWrong: undefined, wider: 0 }

/** Checks that rows of an atom never overlap. */
const expectNoOverlaps = async ({ admin }: CacheRedis): Promise<void> => {
  for (const key of await admin.keys('kr:cache:{*}')) {
    let before = -1
    for (const text of await admin.zrange(key, 0, '-1')) {
      const [first = 0, last = 0] = JSON.parse(text.slice(8)) as readonly number[]
      expect(first).toBeGreaterThan(before)
      expect(last).toBeGreaterThanOrEqual(first)
      before = last
    }
  }
}

describe('three instances on one Redis', needs('redis-server'), () => {
  let redis: CacheRedis
  beforeEach(async () => {
    redis = await startCacheRedis()
  })
  afterEach(() => redis.stop())

  test('get what the chain has, at least a quarter without a node, and rows never overlap', async () => {
    const store = await openFuzzedRedis(redis.url)
    const result = await fuzzStore(store, { requests: 4_000, seed: 11, atOnce: 16 })
    expect(result).toMatchObject({ ...nothingWrong, unjoined: 0 })
    expect(result.hits).toBeGreaterThan(1_000)
    await expectNoOverlaps(redis)
  })

  test('get what the chain has although Redis deletes what was not used for longest', async () => {
    const store = await openFuzzedRedis(redis.url)
    const [, used] = /used_memory:(\d+)/.exec(await redis.admin.info('memory')) ?? []
    await redis.admin.config('SET', 'maxmemory', `${Number(used) + 900_000}`)
    const result = await fuzzStore(store, { requests: 4_000, seed: 12, atOnce: 16 })
    expect(result).toMatchObject(nothingWrong)
    expect(await redis.admin.info('stats')).toMatch(/evicted_keys:[1-9]\d\d/)
    expect(result.hits).toBeGreaterThan(100)
    await expectNoOverlaps(redis)
  })

  test('get what the chain has although keys of any kind are deleted, and values damaged', async () => {
    const { admin } = redis
    const store = await openFuzzedRedis(redis.url, async (random) => {
      for (let count = 0; count < 20; count += 1) {
        const key = await admin.randomkey()
        if (key === null) return
        const isText = (await admin.type(key)) === 'string'
        if (random(3) > 0 || !isText) await admin.del(key)
        else await admin.setrange(key, random(await admin.strlen(key)), Buffer.from([random(256)]))
      }
    })
    const result = await fuzzStore(store, { requests: 3_000, seed: 13, atOnce: 8 })
    expect(result).toMatchObject(nothingWrong)
    expect(result.hits).toBeGreaterThan(100)
  })

  test('get what the chain has while Redis hangs, dies, and comes back empty', async () => {
    let turn = 0
    let starting: Promise<unknown> | undefined
    const disturb = async (): Promise<void> => {
      turn += 1
      if (turn % 8 === 2) {
        redis.hang()
        setTimeout(() => redis.resume(), 300)
      }
      if (turn % 8 === 4) {
        await starting
        await redis.kill()
        starting = redis.start()
      }
      if (turn % 8 === 7) await redis.admin.flushall().catch(() => {})
    }
    // As in a service: a look-up that is late is not waited for.
    const store = await openFuzzedRedis(redis.url, disturb, { patienceMs: 20 })
    const result = await fuzzStore(store, { requests: 3_000, seed: 14, atOnce: 8 })
    await starting
    expect(result).toMatchObject(nothingWrong)
  })

  test('serve nothing of a node that was purged, although Redis loses the chain between verifications', async () => {
    const fuzzed = await openFuzzedRedis(redis.url, async (random) => {
      if (random(4) === 0) await redis.admin.del('kr:cache:chains')
    })
    const store = addPurgedNode(fuzzed, fuzzed.purge)
    const result = await fuzzStore(store, { requests: 1_500, seed: 17 })
    expect(result).toMatchObject(nothingWrong)
    expect(store.getPurges()).toBeGreaterThan(100)
    expect(result.hits).toBeGreaterThan(50)
  })

  test('serve only what a second node has sent too, if all is confirmed', async () => {
    const store = toConfirmedStore(await openFuzzedRedis(redis.url))
    const result = await fuzzStore(store, { requests: 2_000, seed: 15, atOnce: 8 })
    expect(result).toMatchObject(nothingWrong)
    expect(result.hits).toBeGreaterThan(50)
    await expectNoOverlaps(redis)
  })
})

test('a store in a Redis Cluster gets what the chain has', needs('redis-server'), async () => {
  const cluster = await startRedisCluster()
  try {
    const { Redis } = await import('ioredis')
    for (const url of cluster.nodeUrls) {
      const admin = new Redis(url)
      await admin.config('SET', 'maxmemory', '100mb')
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lfu')
      admin.disconnect()
    }
    const result = await fuzzStore(await openFuzzedRedis(cluster.url), { requests: 1_500, seed: 16, atOnce: 8 })
    expect(result).toMatchObject(nothingWrong)
    expect(result.hits).toBeGreaterThan(200)
  } finally {
    await cluster.close()
  }
})

test(
  'a Redis that may not be used is not: it does not delete what was not used for longest',
  needs('redis-server'),
  async () => {
    const redis = await startCacheRedis()
    try {
      await redis.admin.config('SET', 'maxmemory-policy', 'noeviction')
      const warnings: string[] = []
      const store = await openTestRedisStore(redis.url, { warnings })
      await expect(store.call('getCheckpoint', 'testnet 5')).rejects.toThrow('does not respond')
      await expect.poll(() => warnings).toEqual([expect.stringContaining('its maxmemory-policy is noeviction')])
    } finally {
      await redis.stop()
    }
  },
)
