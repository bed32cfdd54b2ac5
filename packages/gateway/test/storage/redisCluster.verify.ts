import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Cluster } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { checkEvictionPolicy } from '../../src/storage/redis/checkEvictionPolicy.ts'
import { createRedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import { createRedisMessages } from '../../src/storage/redis/createRedisMessages.ts'
import type { RedisInvalidation } from '../../src/storage/redis/createRedisInvalidation.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import type { RedisLink } from '../../src/storage/redis/openRedis.ts'
import type { Change } from '../../src/storage/changes.ts'
import { startRedisCluster } from '../usage/startRedisCluster.ts'
import type { TestRedisCluster } from '../usage/startRedisCluster.ts'

const keys = Array.from({ length: 200 }, (_, index) => `key:${index}`)
const poll = { timeout: 20_000, interval: 50 }

describe('with a Redis Cluster', needs('redis-server'), () => {
  let cluster: TestRedisCluster
  const toClose: { close(): Promise<void> }[] = []
  const isAllReady = (link: RedisLink): boolean => keys.every((key) => link.isReady(key))
  const open = async (url = cluster.url): Promise<RedisLink> => {
    const link = openRedis(url)
    toClose.push(link)
    await expect.poll(() => isAllReady(link), poll).toBe(true)
    return link
  }
  const listen = (link: RedisLink): { received: Change[]; invalidation: RedisInvalidation } => {
    const received: Change[] = []
    const messages = createRedisMessages(link)
    toClose.unshift(messages)
    const invalidation = createRedisInvalidation({ messages, onChange: (changes) => received.push(...changes) })
    return { received, invalidation }
  }
  /** Publishes changes with new ids until the other one receives one of them. */
  const expectDelivery = async (from: ReturnType<typeof listen>, to: ReturnType<typeof listen>): Promise<void> => {
    const before = to.received.length
    let count = 0
    await expect
      .poll(() => {
        from.invalidation.publish([{ kind: 'key', id: `key_${(count += 1)}` }])
        return to.received.length
      }, poll)
      .toBeGreaterThan(before)
  }

  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterEach(async () => {
    await Promise.all(toClose.splice(0).map((each) => each.close()))
    await cluster.whenHealthy()
  })
  afterAll(() => cluster.close())

  test('commands and scripts work for keys of all shards, and ping succeeds', async () => {
    const link = await open()
    await link.ping()
    await Promise.all(keys.map((key) => link.client.set(key, `value of ${key}`)))
    const values = await Promise.all(keys.map((key) => link.client.get(key)))
    expect(values).toEqual(keys.map((key) => `value of ${key}`))
    const script = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
    expect(await Promise.all(keys.map((key) => link.client.eval(script, 1, `{${key}}n`, 2)))).toEqual(keys.map(() => 2))
  })

  test('any one node of the URL is enough', async () => {
    const [node = ''] = cluster.nodeUrls
    const link = await open(node.replace('redis:', 'redis+cluster:'))
    await expect(link.ping()).resolves.toBeUndefined()
  })

  test('getShard agrees with the cluster, and keys with the same hash tag share a shard', async () => {
    const link = await open()
    const expected = await Promise.all(keys.map(async (key) => `127.0.0.1:${(await cluster.findMaster(key)).port}`))
    expect(keys.map((key) => link.getShard(key))).toEqual(expected)
    expect(new Set(expected).size).toBe(3)
    for (const key of keys) expect(link.getShard(`{${key}}quota`)).toBe(link.getShard(key))
  })

  test('a change reaches other instances', async () => {
    const [first, second] = [listen(await open()), listen(await open())]
    await expectDelivery(first, second)
    await expectDelivery(second, first)
  })

  test('while one master fails over, the other shards stay ready and work', async () => {
    const link = await open()
    const [one, two] = [listen(link), listen(await open())]
    await expectDelivery(one, two)
    const lost = keys.filter((key) => link.getShard(key) === link.getShard('key:0'))
    const others = keys.filter((key) => !lost.includes(key))
    const oldShard = link.getShard('key:0')
    const becameReady: string[] = []
    link.onReady((shard) => becameReady.push(shard))
    await Promise.all(keys.map((key) => link.client.set(key, 'before')))

    const master = await cluster.findMaster('key:0')
    await master.kill()
    await expect.poll(() => lost.some((key) => link.isReady(key)), { timeout: 1_000, interval: 5 }).toBe(false)
    await expect(link.ping()).rejects.toThrow('Redis does not respond')
    let checks = 0
    while (!lost.every((key) => link.isReady(key))) {
      checks += 1
      expect(others.every((key) => link.isReady(key))).toBe(true)
      const [key = ''] = others.slice(checks % others.length)
      expect(await link.client.get(key)).toBe('before')
    }
    expect(checks).toBeGreaterThan(0)

    expect(link.getShard('key:0')).not.toBe(oldShard)
    expect(becameReady).toEqual([link.getShard('key:0')])
    for (const key of lost) await link.client.set(key, 'after')
    await link.ping()
    await expectDelivery(one, two)
    await expectDelivery(two, one)
    await master.start()
  })

  test('a master that hangs is left for the new master, although its connection stays open', async () => {
    const link = await open()
    const oldShard = link.getShard('key:0')
    const master = await cluster.findMaster('key:0')
    master.hang()
    try {
      // Sooner than the 10 seconds after which the connection is closed.
      await expect
        .poll(() => link.getShard('key:0') !== oldShard && link.isReady('key:0'), { ...poll, timeout: 9_000 })
        .toBe(true)
      await link.client.set('key:0', 'after')
    } finally {
      master.resume()
    }
  })

  test('a command in flight when the connection is lost fails, and is never sent again', async () => {
    const link = await open()
    if (!(link.client instanceof Cluster)) throw new Error('unreachable')
    await link.client.set('key:0', 0)
    const master = await cluster.findMaster('key:0')
    const connection = link.client.nodes('master').find(({ options }) => options.port === master.port)
    master.hang()
    const results = Promise.allSettled(Array.from({ length: 50 }, () => link.client.incr('key:0')))
    await wait(50)
    connection?.stream.destroy()
    // The master runs what it received, but cannot respond.
    master.resume()
    expect((await results).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 'rejected'))
    await expect.poll(() => link.isReady('key:0'), poll).toBe(true)
    expect(Number(await link.client.get('key:0'))).toBe(50)
  })

  test('a planned failover runs no command twice', async () => {
    const link = await open()
    if (!(link.client instanceof Cluster)) throw new Error('unreachable')
    const oldShard = link.getShard('key:0')
    const { port } = await cluster.findMaster('key:0')
    const roles = await Promise.all(link.client.nodes('slave').map(async (node) => ({ node, role: await node.role() })))
    const replica = roles.find(({ role }) => role[2] === port)?.node
    await link.client.set('key:0', 0)
    const results: Promise<boolean>[] = []
    const sending = setInterval(() => {
      const sent = link.client.incr('key:0')
      results.push(
        sent.then(
          () => true,
          () => false,
        ),
      )
    }, 1)
    try {
      await replica?.cluster('FAILOVER')
      await expect.poll(() => link.getShard('key:0') !== oldShard && link.isReady('key:0'), poll).toBe(true)
    } finally {
      clearInterval(sending)
    }
    const succeeded = (await Promise.all(results)).filter(Boolean).length
    expect(succeeded).toBeGreaterThan(0)
    expect(Number(await link.client.get('key:0'))).toBe(succeeded)
  })

  test('it works again after all nodes were restarted', async () => {
    const link = await open()
    const [one, two] = [listen(link), listen(await open())]
    await Promise.all(cluster.processes.map((each) => each.kill()))
    await expect.poll(() => link.isReady(), { timeout: 2_000, interval: 5 }).toBe(false)
    await expect(link.ping()).rejects.toThrow('Redis does not respond')
    await Promise.all(cluster.processes.map((each) => each.start()))
    await expect.poll(() => isAllReady(link), poll).toBe(true)
    // A node that was restarted rejects writes until it has heard of the others.
    await expect
      .poll(
        () =>
          link.ping().then(
            () => true,
            () => false,
          ),
        poll,
      )
      .toBe(true)
    await expectDelivery(one, two)
  })

  test('it finds a cluster whose nodes all got other addresses through the host of the URL', async () => {
    const before = await startRedisCluster()
    let target = before.processes[0]?.port ?? 0
    // In place of a DNS name that leads to other addresses later.
    const host = createServer((client) => {
      const node = connect(target, '127.0.0.1')
      client.pipe(node).pipe(client)
      for (const socket of [client, node]) socket.on('error', () => client.destroy())
    }).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const { port } = host.address() as AddressInfo
    const link = await open(`redis+cluster://:${before.password}@127.0.0.1:${port}`)
    await before.close()
    const after = await startRedisCluster(before.password)
    try {
      target = after.processes[0]?.port ?? 0
      await expect.poll(() => isAllReady(link), poll).toBe(true)
      expect(link.getShard('key:0')).toBe(`127.0.0.1:${(await after.findMaster('key:0')).port}`)
    } finally {
      await link.close()
      host.close()
      await after.close()
    }
  })

  test('errors contain no address and no password', async () => {
    const wrong = openRedis(cluster.url.replace(cluster.password, 'hunter2hunter2'))
    const unreachable = openRedis('redis+cluster://:hunter2hunter2@127.0.0.1:1,127.0.0.1:2')
    toClose.push(wrong, unreachable)
    for (const link of [wrong, unreachable]) {
      const errors = await Promise.all([
        link.ping().catch((error: unknown) => error),
        link.client.set('key', 'value').catch((error: unknown) => error),
      ])
      expect(String(errors[0])).toBe('Error: Redis does not respond')
      for (const error of errors) {
        expect(error).toBeInstanceOf(Error)
        const shown = inspect(error, { depth: Infinity, showHidden: true })
        for (const secret of ['hunter2', '127.0.0.1']) expect(shown).not.toContain(secret)
      }
      expect(link.isReady()).toBe(false)
    }
  })

  test('the eviction policy of each master is checked', async () => {
    const link = await open()
    if (!(link.client instanceof Cluster)) throw new Error('unreachable')
    expect(await checkEvictionPolicy(link)).toBeUndefined()
    const [, second] = link.client.nodes('master')
    await second?.config('SET', 'maxmemory-policy', 'volatile-lru')
    expect(await checkEvictionPolicy(link)).toBeUndefined()
    await second?.config('SET', 'maxmemory', '100mb')
    expect(await checkEvictionPolicy(link)).toBe('volatile-lru')
    await second?.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
  })
})
