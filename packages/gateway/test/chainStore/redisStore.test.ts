import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import type { LogQuery } from '../../src/storage/chainStore/logQuery.ts'
import { describeCachePolicy, isSameRedis } from '../../src/storage/chainStore/redis/checkCacheRedis.ts'
import { createRedisAccess } from '../../src/storage/chainStore/redis/createRedisAccess.ts'
import type { RedisAccess } from '../../src/storage/chainStore/redis/createRedisAccess.ts'
import { createRedisReader } from '../../src/storage/chainStore/redis/createRedisReader.ts'
import type { RedisReader } from '../../src/storage/chainStore/redis/createRedisReader.ts'
import { createRedisWriter } from '../../src/storage/chainStore/redis/createRedisWriter.ts'
import type { RedisWriter } from '../../src/storage/chainStore/redis/createRedisWriter.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import { startRedis } from '../usage/startRedis.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import { longPatienceMs, startCacheRedis } from './openTestRedis.ts'
import type { CacheRedis } from './openTestRedis.ts'

const name = 'testnet 5'
const busy = toAddress(1)
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'))

/** A chain whose address `busy` has a log in each of 100 blocks. */
const model = createModelChain()
for (let number = 1; number <= 100; number += 1) model.mine([{ address: busy, topics: [toWord(1)], data: '0x' }])

const toQuery = (first: number, last: number, address = busy): LogQuery => ({
  first,
  last,
  addresses: [address],
  topics: [],
})

describe('a chain store in Redis', needs('redis-server'), () => {
  let redis: CacheRedis
  let version = { epoch: '0', revision: 0 }
  let chain: string
  const instances: { access: RedisAccess; reader: RedisReader; writer: RedisWriter }[] = []
  const get = (index = 0) => instances[index] as (typeof instances)[number]
  beforeAll(async () => {
    redis = await startCacheRedis()
    for (let count = 0; count < 2; count += 1) {
      const access = createRedisAccess({ url: redis.url, warn: () => {} })
      instances.push({
        access,
        reader: createRedisReader(access, { patienceMs: longPatienceMs }),
        writer: createRedisWriter(access),
      })
    }
    for (const { writer } of instances) await vi.waitFor(() => writer.getCheckpoint(name), { interval: 10 })
  })
  beforeEach(async () => {
    await redis.admin.flushall()
    version = { epoch: `${Number(version.epoch) + 1}`, revision: 0 }
    chain = `${name} ${version.epoch}`
    await get().writer.setCheckpoint(name, { ...version, genesis: '0x1', number: 50, hash: '0x50' })
    await get().writer.setCheckpoint(name, { ...version, genesis: '0x1', number: 100, hash: '0x100' })
  })
  afterAll(async () => {
    await Promise.all(instances.map(({ access }) => access.link.close()))
    await redis.stop()
  })

  const add = (query: LogQuery, index = 0, own: { revision?: number; upstream?: string } = {}) =>
    get(index).writer.addLogs({ chain, upstream: 'one', ...own, query, result: toBytes(model.getLogs(query)) })
  const read = async (query: LogQuery, index = 0) => {
    const found = await get(index).reader.readLogs(chain, query, Infinity)
    return found?.missing ?? Buffer.from(found?.value ?? []).toString()
  }
  const addBlock = (block: number, own: { revision?: number } = {}) =>
    get().writer.addEntry({
      chain,
      upstream: 'one',
      ...own,
      text: `${chain} block ${block}`,
      block,
      value: toBytes('7'),
    })
  const readBlock = async (block: number, index = 1) =>
    (await get(index).reader.readEntry(`${chain} block ${block}`))?.toString()

  test('has what another instance has stored, by any range in it', async () => {
    expect(await add(toQuery(1, 60))).toBe('stored')
    expect(await add(toQuery(61, 90), 1)).toBe('stored')
    expect(await read(toQuery(20, 80), 1)).toBe(model.getLogs(toQuery(20, 80)))
    expect(await read(toQuery(80, 100))).toEqual({ first: 91, last: 100, addresses: [busy] })
    await addBlock(7)
    expect(await readBlock(7)).toBe('7')
  })

  test('asks for the range whose logs Redis has deleted, and stores them again', async () => {
    await add(toQuery(1, 60))
    const keys = await redis.admin.keys('kr:cache:{*}:*')
    await redis.admin.del(...keys)
    expect(await read(toQuery(10, 20))).toEqual({ first: 10, last: 20, addresses: [busy] })
    await add(toQuery(10, 20))
    expect(await read(toQuery(10, 20))).toBe(model.getLogs(toQuery(10, 20)))
  })

  test('has no two rows of the same blocks, whatever instances store at once', async () => {
    const ranges = Array.from({ length: 12 }, (_, index) => toQuery(1 + 5 * index, 30 + 6 * index))
    await Promise.all(ranges.map((query, index) => add(query, index % 2)))
    const [key = ''] = await redis.admin.keys('kr:cache:{*}')
    const rows = (await redis.admin.zrange(key, 0, '-1')).map((text) => JSON.parse(text.slice(8)) as readonly number[])
    expect(rows.flatMap(([first, last]) => [first, last])).toEqual(
      rows.flatMap(([first, last]) => [first, last]).toSorted((one, other) => Number(one) - Number(other)),
    )
    expect(await read(toQuery(1, 96))).toBe(model.getLogs(toQuery(1, 96)))
  })

  test('serves a range without logs once a second node has sent the same', async () => {
    const silent = toQuery(1, 100, toAddress(2))
    await add(silent)
    expect(await read(silent)).toMatchObject({ first: 1, last: 100 })
    const picked = await get(1).writer.pickUnconfirmed(
      { chain, upstream: 'one' },
      { maxBlocks: 500, waitMs: 0, ageMs: 0 },
    )
    expect(picked?.query).toEqual(silent)
    const answer = { chain, upstream: 'two', query: silent, result: toBytes('[]') }
    expect(await get(1).writer.confirm(answer)).toEqual({ confirmed: 1, contradicted: 0 })
    expect(await read(silent)).toBe('[]')
    expect(await redis.admin.keys('kr:cache:logs:*')).toEqual([])
  })

  test('has nothing above a block whose later ones were replaced, also not what is stored late', async () => {
    await add(toQuery(1, 40))
    await add(toQuery(41, 100), 0, { upstream: 'two' })
    await addBlock(50)
    await addBlock(51)
    await get().writer.rollBack(name, version, 50)
    expect(await read(toQuery(1, 40), 1)).toBe(model.getLogs(toQuery(1, 40)))
    expect(await read(toQuery(1, 100), 1)).toEqual({ first: 41, last: 100, addresses: [busy] })
    expect([await readBlock(50), await readBlock(51)]).toEqual(['7', undefined])
    expect(await add(toQuery(41, 100), 1, { revision: 0 })).toBe('outdated')
    expect(await addBlock(51, { revision: 0 })).toBe('outdated')
    expect(await get(1).writer.getCheckpoint(name)).toMatchObject({ revision: 1, number: 50 })
    await add(toQuery(41, 100), 1, { revision: 1 })
    expect(await read(toQuery(1, 100))).toBe(model.getLogs(toQuery(1, 100)))
  })

  test('has nothing of a node that was purged, and nothing of a chain that was', async () => {
    await add(toQuery(1, 40))
    await add(toQuery(41, 100), 0, { upstream: 'two' })
    await get().writer.purge(name, 'two')
    expect(await read(toQuery(1, 100), 1)).toEqual({ first: 41, last: 100, addresses: [busy] })
    await add(toQuery(41, 100), 1, { upstream: 'two' })
    expect(await read(toQuery(1, 100), 1)).toBe(model.getLogs(toQuery(1, 100)))
    await get().writer.purge(undefined, undefined)
    expect(await read(toQuery(1, 100), 1)).toBe('')
    expect(await add(toQuery(1, 100), 1, { revision: 0 })).toBe('outdated')
    expect(await get(1).writer.getCheckpoint(name)).toBeUndefined()
  })

  test('starts over if Redis comes back with an older version of the chain', async () => {
    await add(toQuery(1, 100))
    const before = await redis.admin.hgetall('kr:cache:chains')
    await get().writer.rollBack(name, version, 50)
    expect(await addBlock(7, { revision: 1 })).toBe('stored')
    await redis.admin.hset('kr:cache:chains', before)
    expect(await addBlock(7, { revision: 0 })).toBe('outdated')
    expect(await get().writer.getCheckpoint(name)).toBeUndefined()
    expect(await read(toQuery(1, 100), 1)).toBe('')
  })

  test.each([
    ['purged', () => get(1).writer.purge(name, undefined)],
    ['lost', () => redis.admin.del('kr:cache:chains')],
  ])('does not come back to life if it is %s while its nodes are asked', async (_, remove) => {
    const checkpoint = await get().writer.getCheckpoint(name)
    await add(toQuery(1, 100), 1)
    await remove()
    const newer = { ...version, genesis: '0x1', number: 120, hash: '0x120' }
    expect(await get().writer.setCheckpoint(name, newer)).toBeUndefined()
    expect(checkpoint?.number).toBe(100)
    expect(await read(toQuery(1, 100), 1)).toBe('')
    const next = { ...newer, epoch: `${version.epoch}-again` }
    expect(await get().writer.setCheckpoint(name, next)).toEqual(next)
  })

  test('has nothing of a chain that was purged if Redis comes back with it', async () => {
    await add(toQuery(1, 100))
    expect(await read(toQuery(1, 100), 1)).toBe(model.getLogs(toQuery(1, 100)))
    const before = await redis.admin.hgetall('kr:cache:chains')
    await get().writer.purge(name, undefined)
    const next = { epoch: `${version.epoch}-again`, revision: 0, genesis: '0x1', number: 110, hash: '0x110' }
    await get().writer.setCheckpoint(name, next)
    await get(1).reader.readLogs(`${name} ${next.epoch}`, toQuery(1, 1), Infinity)
    await redis.admin.hset('kr:cache:chains', before)
    expect(await read(toQuery(1, 100), 1)).toBe('')
    expect(await get().writer.getCheckpoint(name)).toBeUndefined()
  })

  /** Creates a reader that waits for something before it reads rows for the first time. */
  const createLateReader = (wait: () => Promise<unknown>) => {
    let waited: Promise<unknown> | undefined
    const { access } = get(1)
    return createRedisReader(
      {
        run: (ms, work) =>
          access.run(ms, (send) =>
            work(async (key, command) => {
              if (key.startsWith('kr:cache:{')) await (waited ??= wait())
              return send(key, command)
            }),
          ),
      },
      { patienceMs: longPatienceMs },
    )
  }

  test('does not mix what was stored before and after blocks were replaced', async () => {
    const query = toQuery(1, 100)
    await add(query)
    const reader = createLateReader(async () => {
      await get().writer.rollBack(name, version, 50)
      await add(query, 0, { revision: 1 })
    })
    expect(await reader.readLogs(chain, query, Infinity)).toBeUndefined()
    expect(await read(query, 1)).toBe(model.getLogs(query))
  })

  test('does one look-up of many addresses at a time', async () => {
    const addresses = Array.from({ length: 60 }, (_, at) => toAddress(at + 1)).toSorted()
    const query = { ...toQuery(1, 10), addresses }
    let resolve = (): void => {}
    const promise = new Promise<void>((done) => (resolve = done))
    const reader = createLateReader(() => promise)
    const first = reader.readLogs(chain, query, Infinity)
    expect(await reader.readLogs(chain, query, Infinity)).toBeUndefined()
    resolve()
    expect((await first)?.missing).toEqual({ first: 1, last: 10, addresses })
    expect((await reader.readLogs(chain, query, Infinity))?.missing).toEqual({ first: 1, last: 10, addresses })
  })

  test('stores logs again that are damaged', async () => {
    await add(toQuery(1, 60))
    const [key = ''] = await redis.admin.keys('kr:cache:{*}:*')
    await redis.admin.setrange(key, 20, Buffer.from([1, 2, 3]))
    expect(await read(toQuery(10, 20))).toEqual({ first: 10, last: 20, addresses: [busy] })
    await add(toQuery(10, 20))
    expect(await read(toQuery(10, 20))).toBe(model.getLogs(toQuery(10, 20)))
  })

  test('forgets which calls to confirm once they are, or are contradicted, and the oldest of very many', async () => {
    const call = { method: 'eth_getBlockByNumber', params: '["0x7",false]' }
    const addCall = (upstream: string, block: number, value = '"7"') =>
      get().writer.addEntry({
        chain,
        upstream,
        group: upstream,
        text: `${chain} call ${block}`,
        block,
        call,
        value: toBytes(value),
      })
    await addCall('one', 7)
    await addCall('one', 8)
    const [key = ''] = await redis.admin.keys('kr:cache:calls:*')
    expect(await redis.admin.zcard(key)).toBe(2)
    await addCall('two', 7)
    expect(await redis.admin.zcard(key)).toBe(1)
    await addCall('two', 8, '"8"')
    expect(await redis.admin.zcard(key)).toBe(0)
    await redis.admin.eval(`for at = 1, 100000 do redis.call('ZADD', KEYS[1], at, at) end`, 1, key)
    await addCall('one', 9)
    expect(await redis.admin.zcard(key)).toBe(100_000)
    expect(await redis.admin.zrange(key, '0', '0')).toEqual(['2'])
    await redis.admin.flushall()
  })

  test('is left alone while it is slow, also if single commands end after their look-up', async () => {
    const proxy = await startTcpProxy(Number(new URL(redis.url).port))
    onTestFinished(proxy.close)
    const url = new URL(redis.url)
    url.port = `${proxy.port}`
    const access = createRedisAccess({ url: url.href, warn: () => {} })
    onTestFinished(() => access.link.close())
    const reader = createRedisReader(access, { patienceMs: longPatienceMs })
    const impatient = createRedisReader(access, { patienceMs: 20 })
    await addBlock(7)
    await vi.waitFor(async () => expect(await reader.readEntry(`${chain} block 7`)).toBeDefined(), { interval: 10 })
    proxy.slow(60)
    for (let count = 0; count < 3; count += 1) {
      expect(await impatient.readEntry(`${chain} block 7`)).toBeUndefined()
      await vi.waitUntil(() => access.link.pending() === 0, { interval: 10 })
    }
    proxy.slow(0)
    expect(await reader.readEntry(`${chain} block 7`)).toBeUndefined()
  })

  test('is left alone for five seconds after three late look-ups, and then used again', async () => {
    let now = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => clock.mockRestore())
    const { access } = get()
    const impatient = createRedisReader(access, { patienceMs: 20 })
    const readText = async () => (await impatient.readEntry(`${chain} block 7`))?.toString()
    await addBlock(7)
    redis.hang()
    onTestFinished(() => redis.resume())
    for (let count = 0; count < 3; count += 1) expect(await readText()).toBeUndefined()
    const sent = access.link.pending()
    expect(sent).toBe(3)
    expect(await readText()).toBeUndefined()
    expect(await add(toQuery(1, 5)).catch((error: unknown) => String(error))).toContain('does not respond')
    expect(access.link.pending()).toBe(sent)
    redis.resume()
    expect(await read(toQuery(1, 5))).toBe('')
    now += 5_000
    await expect.poll(() => readBlock(7, 0)).toBe('7')
  })

  test('is a server of its own, which deletes what was not used for longest', async () => {
    const link = openRedis(redis.url)
    const other = await startRedis()
    const otherLink = openRedis(other.url)
    const sameLink = openRedis(redis.url.replace(/0$/, '3').replace('127.0.0.1', 'localhost'))
    expect(await describeCachePolicy(link)).toBeUndefined()
    expect(await describeCachePolicy(otherLink)).toContain('its maxmemory-policy is noeviction')
    expect([await isSameRedis(link, sameLink), await isSameRedis(link, otherLink)]).toEqual([true, false])
    await redis.admin.config('SET', 'maxmemory', '0')
    expect(await describeCachePolicy(link)).toContain('its maxmemory is 0')
    await redis.admin.config('SET', 'maxmemory', '100mb')
    await Promise.all([link.close(), otherLink.close(), sameLink.close(), other.stop()])
  })
})
