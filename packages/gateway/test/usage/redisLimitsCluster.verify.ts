import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { toUsedKey } from '../../src/usage/limits/limitScript.ts'
import type { Quota } from '../../src/usage/limits/usageLimits.ts'
import { sqlite } from '../storage/databases.ts'
import { openRedisInstance } from './openRedisInstance.ts'
import type { RedisInstance } from './openRedisInstance.ts'
import { startRedisCluster } from './startRedisCluster.ts'
import type { TestRedisCluster } from './startRedisCluster.ts'
import { startRedisSentinel } from './startRedisSentinel.ts'
import type { TestRedisSentinel } from './startRedisSentinel.ts'

let count = 0
const newQuota = (perDay: number): Quota => ({ id: `app:app_${(count += 1)}`, perDay, perMonth: null })
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

let storage: Storage
const opened: RedisInstance[] = []
const openThree = async (url: string): Promise<readonly RedisInstance[]> => {
  const instances = await Promise.all([1, 2, 3].map(() => openRedisInstance(url, storage, { outageGrant: 40 })))
  opened.push(...instances)
  return instances
}
beforeAll(async () => {
  storage = await openStorage(await sqlite.create())
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((instance) => instance.close()))
})
afterAll(async () => {
  await storage.close()
  await sqlite.stop()
})

/** Calls of a quota one after another, until `isOver` and its quota is used up. @returns How many were granted, and how many got an error. */
const callUntil = async (
  { take }: RedisInstance,
  quota: Quota,
  isOver: () => boolean,
): Promise<{ granted: number; failed: number }> => {
  let [granted, failed] = [0, 0]
  for (let isUsedUp = false; !(isUsedUp && isOver());) {
    const grant = await take(quota).catch(() => undefined)
    if (grant === undefined) failed += 1
    else granted += grant.granted
    isUsedUp = grant?.granted === 0
    await wait(2)
  }
  return { granted, failed }
}

/** Calls of several quotas on three instances while something happens, and then until the quotas are used up. */
const callWhile = async (
  instances: readonly RedisInstance[],
  quotas: readonly Quota[],
  happens: () => Promise<void>,
): Promise<ReadonlyMap<Quota, { granted: number; failed: number }>> => {
  let isOver = false
  const flushing = setInterval(() => {
    for (const { flush } of instances) flush().catch(() => {})
  }, 500)
  const calls = quotas.map(async (quota) => {
    const results = await Promise.all(instances.map((instance) => callUntil(instance, quota, () => isOver)))
    return [
      quota,
      { granted: sum(results.map(({ granted }) => granted)), failed: sum(results.map(({ failed }) => failed)) },
    ] as const
  })
  await happens()
  isOver = true
  const results = new Map(await Promise.all(calls))
  clearInterval(flushing)
  return results
}
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('limits on a Redis Cluster', needs('redis-server'), () => {
  let cluster: TestRedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster.close())

  test('three instances grant exactly the daily limit of each of 30 quotas', async () => {
    const instances = await openThree(cluster.url)
    const quotas = Array.from({ length: 30 }, () => newQuota(100))
    const granted = await Promise.all(
      quotas.map(async (quota) => {
        const grants = await Promise.all(
          instances.flatMap((instance) => Array.from({ length: 50 }, () => instance.take(quota))),
        )
        return sum(grants.map((grant) => grant.granted))
      }),
    )
    expect(new Set(granted)).toEqual(new Set([100]))
    const masters = await Promise.all(quotas.map(({ id }) => cluster.findMaster(toUsedKey(id))))
    expect(new Set(masters).size).toBe(3)
  })

  test('while a master fails over, the quotas of other shards notice nothing, and no quota is granted more than permits beyond its limit', async () => {
    const instances = await openThree(cluster.url)
    const quotas = Array.from({ length: 12 }, () => newQuota(600))
    for (const quota of quotas) await Promise.all(instances.map(({ take }) => take(quota)))
    const [first] = quotas
    const master = await cluster.findMaster(toUsedKey(first?.id ?? ''))
    const affected = new Set<Quota>()
    for (const quota of quotas) if ((await cluster.findMaster(toUsedKey(quota.id))) === master) affected.add(quota)
    expect(affected.size).toBeLessThan(quotas.length)
    const results = await callWhile(instances, quotas, async () => {
      await wait(500)
      await master.kill()
      await expect.poll(async () => (await cluster.findMaster(toUsedKey(first?.id ?? ''))) === master).toBe(false)
    })
    for (const [quota, { granted, failed }] of results) {
      if (!affected.has(quota)) expect(failed).toBe(0)
      // 3 calls before, and at most one in flight for each instance.
      expect(granted + 3).toBeLessThanOrEqual(600 + (affected.has(quota) ? 40 + 3 : 0))
      expect(granted + 3).toBeGreaterThanOrEqual(600 - 3)
    }
  })
})

describe('limits behind Redis Sentinel', needs('redis-server'), () => {
  let sentinel: TestRedisSentinel
  beforeAll(async () => {
    sentinel = await startRedisSentinel()
  })
  afterAll(() => sentinel.close())

  test('after a failover, no quota is granted more than permits beyond its limit', async () => {
    const instances = await openThree(sentinel.url)
    const quota = newQuota(2_000)
    await Promise.all(instances.map(({ take }) => take(quota)))
    const results = await callWhile(instances, [quota], async () => {
      await wait(500)
      const master = await sentinel.master()
      await master.kill()
      await expect.poll(async () => (await sentinel.master()) === master).toBe(false)
    })
    const { granted = 0 } = results.get(quota) ?? {}
    expect(granted + 3).toBeLessThanOrEqual(2_000 + 40 + 3)
    expect(granted + 3).toBeGreaterThanOrEqual(2_000 - 3)
  })
})
