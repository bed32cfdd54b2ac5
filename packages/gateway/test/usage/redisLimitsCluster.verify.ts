import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { toUsedKey } from '../../src/usage/limits/limitScript.ts'
import type { QuotaAccount } from '../../src/usage/limits/usageLimits.ts'
import { sqlite } from '../storage/databases.ts'
import { openRedisInstance } from './openRedisInstance.ts'
import type { RedisInstance } from './openRedisInstance.ts'
import { startRedisCluster } from './startRedisCluster.ts'
import type { TestRedisCluster } from './startRedisCluster.ts'
import { startRedisSentinel } from './startRedisSentinel.ts'
import type { TestRedisSentinel } from './startRedisSentinel.ts'

let count = 0
const newAccount = (perDay: number): QuotaAccount => ({ id: `app:app_${(count += 1)}`, perDay, perMonth: null })
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

/** Calls of an account one after another, until `isOver` and its quota is used up. @returns How many were granted, and how many got an error. */
const callUntil = async (
  { take }: RedisInstance,
  account: QuotaAccount,
  isOver: () => boolean,
): Promise<{ granted: number; failed: number }> => {
  let [granted, failed] = [0, 0]
  for (let isUsedUp = false; !(isUsedUp && isOver());) {
    const grant = await take(account).catch(() => undefined)
    if (grant === undefined) failed += 1
    else granted += grant.granted
    isUsedUp = grant?.granted === 0
    await wait(2)
  }
  return { granted, failed }
}

/** Calls of several accounts on three instances while something happens, and then until the quotas are used up. */
const callWhile = async (
  instances: readonly RedisInstance[],
  accounts: readonly QuotaAccount[],
  happens: () => Promise<void>,
): Promise<ReadonlyMap<QuotaAccount, { granted: number; failed: number }>> => {
  let isOver = false
  const flushing = setInterval(() => {
    for (const { flush } of instances) flush().catch(() => {})
  }, 500)
  const calls = accounts.map(async (account) => {
    const results = await Promise.all(instances.map((instance) => callUntil(instance, account, () => isOver)))
    return [
      account,
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

  test('three instances grant exactly the daily limit of each of 30 accounts', async () => {
    const instances = await openThree(cluster.url)
    const accounts = Array.from({ length: 30 }, () => newAccount(100))
    const granted = await Promise.all(
      accounts.map(async (account) => {
        const grants = await Promise.all(
          instances.flatMap((instance) => Array.from({ length: 50 }, () => instance.take(account))),
        )
        return sum(grants.map((grant) => grant.granted))
      }),
    )
    expect(new Set(granted)).toEqual(new Set([100]))
    const masters = await Promise.all(accounts.map(({ id }) => cluster.findMaster(toUsedKey(id))))
    expect(new Set(masters).size).toBe(3)
  })

  test('while a master fails over, the accounts of other shards notice nothing, and no account is granted more than permits beyond its limit', async () => {
    const instances = await openThree(cluster.url)
    const accounts = Array.from({ length: 12 }, () => newAccount(600))
    for (const account of accounts) await Promise.all(instances.map(({ take }) => take(account)))
    const [first] = accounts
    const master = await cluster.findMaster(toUsedKey(first?.id ?? ''))
    const affected = new Set<QuotaAccount>()
    for (const account of accounts)
      if ((await cluster.findMaster(toUsedKey(account.id))) === master) affected.add(account)
    expect(affected.size).toBeLessThan(accounts.length)
    const results = await callWhile(instances, accounts, async () => {
      await wait(500)
      await master.kill()
      await expect.poll(async () => (await cluster.findMaster(toUsedKey(first?.id ?? ''))) === master).toBe(false)
    })
    for (const [account, { granted, failed }] of results) {
      if (!affected.has(account)) expect(failed).toBe(0)
      // 3 calls before, and at most one in flight for each instance.
      expect(granted + 3).toBeLessThanOrEqual(600 + (affected.has(account) ? 40 + 3 : 0))
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

  test('after a failover, no account is granted more than permits beyond its limit', async () => {
    const instances = await openThree(sentinel.url)
    const account = newAccount(2_000)
    await Promise.all(instances.map(({ take }) => take(account)))
    const results = await callWhile(instances, [account], async () => {
      await wait(500)
      const master = await sentinel.master()
      await master.kill()
      await expect.poll(async () => (await sentinel.master()) === master).toBe(false)
    })
    const { granted = 0 } = results.get(account) ?? {}
    expect(granted + 3).toBeLessThanOrEqual(2_000 + 40 + 3)
    expect(granted + 3).toBeGreaterThanOrEqual(2_000 - 3)
  })
})
