import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { checkEvictionPolicy } from '../../src/storage/redis/checkEvictionPolicy.ts'
import { createRedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import { createRedisMessages } from '../../src/storage/redis/createRedisMessages.ts'
import type { RedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import type { RedisLink } from '../../src/storage/redis/openRedis.ts'
import type { Change } from '../../src/storage/changes.ts'
import { startRedisSentinel } from '../usage/startRedisSentinel.ts'
import type { TestRedisSentinel } from '../usage/startRedisSentinel.ts'

const poll = { timeout: 30_000, interval: 50 }

describe('with Redis Sentinel', needs('redis-server'), () => {
  let sentinel: TestRedisSentinel
  const toClose: { close(): Promise<void> }[] = []
  const open = async (): Promise<RedisLink> => {
    const link = openRedis(sentinel.url)
    toClose.push(link)
    await expect.poll(() => link.isReady(), poll).toBe(true)
    return link
  }
  const getPort = ({ client }: RedisLink): number | undefined =>
    client instanceof Redis ? client.stream.remotePort : undefined
  const listen = (link: RedisLink): { received: Change[]; invalidation: RedisInvalidation } => {
    const received: Change[] = []
    const messages = createRedisMessages(link)
    toClose.unshift(messages)
    const invalidation = createRedisInvalidation({ messages, onChange: (changes) => received.push(...changes) })
    return { received, invalidation }
  }
  const expectDelivery = async (from: ReturnType<typeof listen>, to: ReturnType<typeof listen>): Promise<void> => {
    const before = to.received.length
    await expect
      .poll(() => {
        from.invalidation.publish([{ kind: 'key', id: 'key_1' }])
        return to.received.length
      }, poll)
      .toBeGreaterThan(before)
  }

  beforeAll(async () => {
    sentinel = await startRedisSentinel()
  })
  afterEach(async () => {
    await Promise.all(toClose.splice(0).map((each) => each.close()))
    await sentinel.whenHealthy()
  })
  afterAll(() => sentinel.close())

  test('commands go to the master, which is one shard', async () => {
    const link = await open()
    await link.ping()
    await link.client.set('key', 'value')
    expect(await link.client.get('key')).toBe('value')
    expect(getPort(link)).toBe((await sentinel.master()).port)
    expect([link.getShard('key'), link.isReady('key')]).toEqual(['', true])
    expect(await checkEvictionPolicy(link)).toBeUndefined()
  })

  test('it connects to the new master when the master is killed', async () => {
    const link = await open()
    const [one, two] = [listen(link), listen(await open())]
    await expectDelivery(one, two)
    const shards: string[] = []
    link.onReady((shard) => shards.push(shard))
    const old = await sentinel.master()
    await old.kill()
    await expect.poll(() => link.isReady(), { timeout: 1_000, interval: 5 }).toBe(false)
    await expect(link.ping()).rejects.toThrow('Redis does not respond')
    await expect.poll(() => link.isReady(), poll).toBe(true)
    expect(getPort(link)).not.toBe(old.port)
    expect(shards).toEqual([''])
    await link.ping()
    await expectDelivery(one, two)
    await expectDelivery(two, one)
    await old.start()
  })

  test('it leaves a master that hangs once the sentinels agree on another', async () => {
    const link = await open()
    const old = await sentinel.master()
    old.hang()
    try {
      await expect.poll(() => link.isReady() && getPort(link) !== old.port, poll).toBe(true)
      await link.ping()
    } finally {
      old.resume()
    }
  })

  test('a wrong name of the master is not ready, and the error contains no address', async () => {
    const link = openRedis(sentinel.url.replace('/mymaster/', '/other/'))
    toClose.push(link)
    const error: unknown = await link.ping().catch((caught: unknown) => caught)
    expect(String(error)).toBe('Error: Redis does not respond')
    expect(link.isReady()).toBe(false)
  })
})
