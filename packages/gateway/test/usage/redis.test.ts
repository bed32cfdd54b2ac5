import { setTimeout as wait } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createRedisLimits } from '../../src/usage/limits/createRedisLimits.ts'
import { checkEvictionPolicy } from '../../src/storage/redis/checkEvictionPolicy.ts'
import { createRedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import { createRedisMessages } from '../../src/storage/redis/createRedisMessages.ts'
import type { RedisMessages } from '../../src/storage/redis/createRedisMessages.ts'
import type { RedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import type { RedisLink } from '../../src/storage/redis/openRedis.ts'
import type { Change } from '../../src/storage/changes.ts'
import { startRedis } from './startRedis.ts'
import type { TestRedis } from './startRedis.ts'

describe('with Redis', needs('redis-server'), () => {
  let server: TestRedis
  const links: RedisLink[] = []
  const listeners: RedisMessages[] = []
  const open = async (url = server.url): Promise<RedisLink> => {
    const link = openRedis(url)
    links.push(link)
    if (url === server.url) await expect.poll(() => link.isReady()).toBe(true)
    return link
  }
  beforeAll(async () => {
    server = await startRedis()
  })
  afterEach(async () => {
    server.resume()
    await Promise.all([...listeners.splice(0), ...links.splice(0)].map((each) => each.close()))
  })
  afterAll(() => server.stop())

  describe('invalidation', () => {
    const listen = async (): Promise<{ received: Change[]; link: RedisLink; invalidation: RedisInvalidation }> => {
      const link = await open()
      const received: Change[] = []
      const messages = createRedisMessages(link)
      listeners.push(messages)
      const invalidation = createRedisInvalidation({ messages, onChange: (changes) => received.push(...changes) })
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
          for (const message of invalid) await link.client.publish('kr:changes', message)
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
      expect([link.getShard('one'), link.getShard('{two}three')]).toEqual(['', ''])
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
      const limits = createRedisLimits({
        redis: link,
        rows: { read: async () => new Map() },
        ledger: { add: () => {} },
        flush: async () => {},
      })
      const rate = { perSecond: 1, burst: 2 }
      expect(limits.take({ id: 'app', rate, quota: undefined, calls: 3, passed: 3 })).toMatchObject({ granted: 2 })
      await limits.close()
    }
    for (const url of ['http://127.0.0.1', 'hunter2', ''])
      expect(() => openRedis(url)).toThrow(
        'redisUrl must be a URL such as redis://user:password@host:6379/0, redis+cluster://',
      )
  })
})
