import { setTimeout as wait } from 'node:timers/promises'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import type { LocalRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import { createRedisRateLimiter } from '../../src/usage/rateLimit/createRedisRateLimiter.ts'
import type { RateLimiter } from '../../src/usage/rateLimit/rateLimiter.ts'
import { checkEvictionPolicy } from '../../src/storage/redis/checkEvictionPolicy.ts'
import { createRedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import type { RedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import type { RedisLink } from '../../src/storage/redis/openRedis.ts'
import type { Change } from '../../src/storage/changes.ts'
import { hasRedis, startRedis } from './startRedis.ts'
import type { TestRedis } from './startRedis.ts'

if (!hasRedis)
  console.log('gateway: Redis is not installed, tests that need it are skipped (Debian: apt-get install redis-server)')

let idCount = 0
const newId = (): string => `app_${(idCount += 1)}`

describe.skipIf(!hasRedis)('with Redis', () => {
  let server: TestRedis
  const links: RedisLink[] = []
  const listeners: RedisInvalidation[] = []
  const open = async (url = server.url): Promise<RedisLink> => {
    const link = openRedis(url)
    links.push(link)
    if (url === server.url) await expect.poll(() => link.isReady()).toBe(true)
    return link
  }
  const openLimiter = async (
    patienceMs?: number,
  ): Promise<{ limiter: RateLimiter; local: LocalRateLimiter; redis: RedisLink }> => {
    const redis = await open()
    const local = createRateLimiter()
    const limiter = createRedisRateLimiter({ redis, local, patienceMs })
    // It uses Redis once it knows the clock of Redis.
    await expect.poll(() => limiter.take('warm', { perSecond: 1, burst: 1 }, 0) instanceof Promise).toBe(true)
    return { limiter, local, redis }
  }

  beforeAll(async () => {
    server = await startRedis()
  })
  afterEach(async () => {
    server.resume()
    await Promise.all([...listeners.splice(0), ...links.splice(0)].map((each) => each.close()))
  })
  afterAll(() => server.stop())

  describe('rate limits', () => {
    test('four instances together grant exactly one burst', async () => {
      const instances = await Promise.all([1, 2, 3, 4].map(() => openLimiter(5_000)))
      const id = newId()
      const limits = { perSecond: 1, burst: 300 }
      const startedAt = performance.now()
      const decisions = await Promise.all(
        instances.flatMap(({ limiter }) => Array.from({ length: 200 }, async () => limiter.take(id, limits, 1))),
      )
      const granted = decisions.filter((decision) => decision.granted === 1).length
      const most = 300 + Math.ceil((performance.now() - startedAt) / 1_000)
      expect(granted).toBeGreaterThanOrEqual(300)
      expect(granted).toBeLessThanOrEqual(most)
    })

    test('decides the same as the local limiter', async () => {
      const { limiter } = await openLimiter(5_000)
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 200 }),
          fc.array(fc.integer({ min: 0, max: 250 }), { minLength: 1, maxLength: 12 }),
          async (burst, steps) => {
            const id = newId()
            // A slow rate, so that almost nothing is refilled while the test runs.
            const limits = { perSecond: 1, burst }
            const model = createRateLimiter({ now: () => 0 })
            const startedAt = performance.now()
            for (const calls of steps) {
              const [decision, expected] = [await limiter.take(id, limits, calls), model.take(id, limits, calls)]
              // One token for each started second of this test.
              const refilled = Math.ceil((performance.now() - startedAt) / 1_000)
              expect(decision.granted).toBeGreaterThanOrEqual(expected.granted)
              expect(decision.granted).toBeLessThanOrEqual(expected.granted + refilled)
              if (decision.granted !== expected.granted) return
              expect(Math.abs(decision.retryAfterMs - expected.retryAfterMs)).toBeLessThanOrEqual(
                1_000 * (1 + refilled),
              )
              expect(Math.abs(decision.remaining - expected.remaining)).toBeLessThanOrEqual(refilled)
            }
          },
        ),
        { numRuns: 60 },
      )
    })

    test('refills over time, grants the first calls of a batch that fit, and has a bucket per key', async () => {
      const { limiter, redis } = await openLimiter(60_000)
      const [id, other] = [newId(), newId()]
      const limits = { perSecond: 1, burst: 10 }
      expect(await limiter.take(id, limits, 25)).toMatchObject({ granted: 10, remaining: 0, perSecond: 1 })
      const [, at] = ((await redis.client.get(`keyrail:rate:${id}`)) ?? '').split(':')
      // Many more calls spent, so that no token is available while the test runs, however busy the machine is.
      const spent = 110_000
      await redis.client.set(`keyrail:rate:${id}`, `${spent}:${at}`)
      const rejected = await limiter.take(id, limits, 1)
      expect(rejected.granted).toBe(0)
      expect(rejected.retryAfterMs).toBeGreaterThan(0)
      expect(await limiter.take(other, limits, 10)).toMatchObject({ granted: 10 })
      // The same state, long enough ago.
      await redis.client.set(`keyrail:rate:${id}`, `${spent}:${Number(at) - rejected.retryAfterMs - 1_000}`)
      expect((await limiter.take(id, limits, 1)).granted).toBe(1)
    })

    test('a Redis clock that was set back locks no key out', async () => {
      const { limiter, redis } = await openLimiter(5_000)
      const id = newId()
      const limits = { perSecond: 1_000, burst: 10 }
      // Written by a clock a day ahead, with a full burst spent.
      await redis.client.set(`keyrail:rate:${id}`, `10000:${Date.now() + 86_400_000}`, 'PX', 86_400_000)
      expect((await limiter.take(id, limits, 1)).granted).toBe(0)
      await wait(20)
      expect((await limiter.take(id, limits, 10)).granted).toBe(10)
      expect(await redis.client.pttl(`keyrail:rate:${id}`)).toBeLessThan(60_000)
    })

    test('a burst lowered below the spent tokens rejects', async () => {
      const { limiter } = await openLimiter(5_000)
      const id = newId()
      await limiter.take(id, { perSecond: 1, burst: 200 }, 200)
      expect(await limiter.take(id, { perSecond: 1, burst: 5 }, 1)).toMatchObject({ granted: 0, remaining: 0 })
    })

    test('a slow Redis rejects no call within the limit, and delays a call by at most patienceMs', async () => {
      const { limiter } = await openLimiter(500)
      const id = newId()
      const limits = { perSecond: 10, burst: 200 }
      await limiter.take(id, limits, 50)
      server.hang()
      const first = await Promise.all(Array.from({ length: 20 }, async () => limiter.take(id, limits, 1)))
      // Redis is known to be slow now: no call waits, except for one probe.
      const later = Array.from({ length: 100 }, () => limiter.take(id, limits, 1))
      expect(later.filter((decision) => decision instanceof Promise).length).toBeLessThanOrEqual(1)
      for (const decision of [...first, ...(await Promise.all(later.map(async (each) => each)))])
        expect(decision.granted).toBe(1)
      // Earlier calls count: 50 in Redis and 120 locally; the rest of the burst is left.
      const { granted } = await limiter.take(id, limits, 200)
      expect(granted).toBeGreaterThanOrEqual(30)
      expect(granted).toBeLessThan(200)
    })

    test('a script that Redis runs after the deadline takes no tokens', async () => {
      const { limiter, redis } = await openLimiter(100)
      const id = newId()
      const limits = { perSecond: 1, burst: 100 }
      await limiter.take(id, limits, 1)
      const before = await redis.client.get(`keyrail:rate:${id}`)
      server.hang()
      const decisions = await Promise.all(Array.from({ length: 50 }, async () => limiter.take(id, limits, 1)))
      expect(decisions.every(({ granted }) => granted === 1)).toBe(true)
      await wait(300)
      server.resume()
      await redis.ping()
      expect(await redis.client.get(`keyrail:rate:${id}`)).toBe(before)
    })

    test('an unreachable Redis rejects no call within the limit, and is used again once it is back', async () => {
      const { limiter, redis } = await openLimiter(100)
      const id = newId()
      const limits = { perSecond: 50, burst: 50 }
      expect((await limiter.take(id, limits, 10)).granted).toBe(10)
      await server.kill()
      try {
        for (let call = 0; call < 40; call += 1) expect((await limiter.take(id, limits, 1)).granted).toBe(1)
        expect((await limiter.take(id, limits, 100)).granted).toBeLessThan(60)
      } finally {
        await server.start()
      }
      await expect.poll(() => redis.isReady()).toBe(true)
      await expect.poll(() => limiter.take(id, limits, 0) instanceof Promise).toBe(true)
      expect((await limiter.take(id, limits, 1)).granted).toBe(1)
    })
  })

  describe('invalidation', () => {
    const listen = async (): Promise<{ received: Change[]; link: RedisLink; invalidation: RedisInvalidation }> => {
      const link = await open()
      const received: Change[] = []
      const invalidation = createRedisInvalidation({ redis: link, onChange: (changes) => received.push(...changes) })
      listeners.push(invalidation)
      return { received, link, invalidation }
    }
    const one: Change = { kind: 'key', id: 'key_1' }

    test('reaches every instance', async () => {
      const instances = [await listen(), await listen(), await listen()]
      const [first] = instances
      await expect
        .poll(() => {
          first?.invalidation.publish([one])
          return instances.every(({ received }) => received.length > 0)
        })
        .toBe(true)
      for (const { received } of instances) expect(received[0]).toEqual(one)
    })

    test('continues after Redis was unreachable', async () => {
      const { received, link, invalidation } = await listen()
      await server.kill()
      await expect.poll(() => link.isReady()).toBe(false)
      invalidation.publish([one])
      await server.start()
      await expect
        .poll(() => {
          invalidation.publish([one])
          return received.length
        })
        .toBeGreaterThan(0)
    })

    test('ignores messages that are not changes', async () => {
      const { received, link, invalidation } = await listen()
      const invalid = [
        '',
        '{',
        'null',
        '{"kind":"key"}',
        '[["key"]]',
        '[["table","x"]]',
        '[null,1,[["key","x"]]]',
        '[["key",{}]]',
      ]
      await expect
        .poll(async () => {
          for (const message of invalid) await link.client.publish('keyrail:changes', message)
          invalidation.publish([one])
          return received.length
        })
        .toBeGreaterThan(0)
      expect(new Set(received.map(({ kind, id }) => `${kind} ${id}`))).toEqual(new Set(['key key_1']))
    })
  })

  describe('the link', () => {
    test('without a cluster there is one shard, which is ready again after a reconnect', async () => {
      const link = await open()
      const ready: string[] = []
      link.onReady((shard) => ready.push(shard))
      expect([link.shardOf('one'), link.shardOf('{two}three')]).toEqual(['', ''])
      expect(link.isReady('one')).toBe(true)
      await server.kill()
      await expect.poll(() => link.isReady('one')).toBe(false)
      expect(ready).toEqual([])
      await server.start()
      await expect.poll(() => link.isReady('one')).toBe(true)
      expect(ready).toEqual([''])
    })

    test('a command in flight when the connection is lost fails, and is never sent again', async () => {
      const link = await open()
      await link.client.set('in-flight', 0)
      server.hang()
      const results = Promise.allSettled(Array.from({ length: 20 }, () => link.client.incr('in-flight')))
      await wait(20)
      if (link.client instanceof Redis) link.client.stream.destroy()
      // Redis runs what it received, but cannot respond.
      server.resume()
      expect((await results).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 'rejected'))
      await expect.poll(() => link.isReady()).toBe(true)
      expect(Number(await link.client.get('in-flight'))).toBe(20)
    })

    test('it reconnects when the master became a replica', async () => {
      const link = await open()
      const ready: string[] = []
      link.onReady((shard) => ready.push(shard))
      await link.client.replicaof('127.0.0.1', 1)
      try {
        await expect(link.client.set('key', 'value')).rejects.toThrow('READONLY')
        await expect.poll(() => ready.length).toBe(1)
      } finally {
        await link.client.replicaof('NO', 'ONE')
      }
    })

    test('a policy that deletes counters is found if Redis has a memory limit', async () => {
      const link = await open()
      expect(await checkEvictionPolicy(link)).toBeUndefined()
      await link.client.config('SET', 'maxmemory-policy', 'allkeys-lru')
      expect(await checkEvictionPolicy(link)).toBeUndefined()
      await link.client.config('SET', 'maxmemory', '100mb')
      expect(await checkEvictionPolicy(link)).toBe('allkeys-lru')
      await link.client.config('SET', 'maxmemory-policy', 'noeviction')
      expect(await checkEvictionPolicy(link)).toBeUndefined()
      await link.client.config('SET', 'maxmemory', '0')
    })

    test('the policy of a Redis that does not respond, or does not report it, is unknown', async () => {
      const link = await open()
      await link.client.acl('SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-info')
      const limited = new URL(server.url)
      limited.username = 'limited'
      limited.password = 'secret'
      const other = await open(limited.href)
      await expect.poll(() => other.isReady()).toBe(true)
      expect(await checkEvictionPolicy(other)).toBe('unknown')
      server.hang()
      expect(await checkEvictionPolicy(link)).toBe('unknown')
      expect(await checkEvictionPolicy(await open('redis://127.0.0.1:1'))).toBe('unknown')
    })
  })

  test('an unreachable Redis or a wrong password stops nothing, and errors contain no secret', async () => {
    const wrong = new URL(server.url)
    wrong.password = 'hunter2hunter2'
    const closed = new URL(server.url)
    closed.port = '1'
    for (const url of [wrong.href, closed.href]) {
      const link = await open(url)
      const error: unknown = await link.ping().catch((caught: unknown) => caught)
      expect(String(error)).toBe('Error: Redis does not respond')
      const shown = inspect(error, { depth: Infinity, showHidden: true })
      for (const secret of ['hunter2', server.password, '127.0.0.1']) expect(shown).not.toContain(secret)
      const limiter = createRedisRateLimiter({ redis: link, local: createRateLimiter() })
      expect(limiter.take('app', { perSecond: 1, burst: 2 }, 3)).toMatchObject({ granted: 2 })
    }
    for (const url of ['http://127.0.0.1', 'hunter2', ''])
      expect(() => openRedis(url)).toThrow(
        'redisUrl must be a URL such as redis://user:password@host:6379/0, redis+cluster://',
      )
  })
})
