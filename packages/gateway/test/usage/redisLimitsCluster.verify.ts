import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isStorageError } from '../../src/errors/storageError.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import type { RedisLimitsOptions } from '../../src/usage/limits/createRedisLimits.ts'
import { toUsedKey } from '../../src/usage/limits/limitScript.ts'
import type { QuotaAccount } from '../../src/usage/limits/usageLimits.ts'
import { sqlite } from '../storage/databases.ts'
import { openInstance } from './openInstance.ts'
import type { TestInstance } from './openInstance.ts'
import { hasRedis } from './startRedis.ts'
import { startRedisCluster } from './startRedisCluster.ts'
import type { TestRedisCluster } from './startRedisCluster.ts'

const poll = { timeout: 30_000, interval: 20 }
const accounts = Array.from({ length: 30 }, (_, index): QuotaAccount => ({
  id: `user:usr_${index}`,
  perDay: 300,
  perMonth: null,
}))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

describe.skipIf(!hasRedis)('limits on a Redis Cluster', { timeout: 90_000 }, () => {
  let cluster: TestRedisCluster
  let storage: Storage
  const opened: TestInstance[] = []
  const open = async (options: Partial<RedisLimitsOptions> = {}): Promise<TestInstance> => {
    const instance = await openInstance({ redisUrl: cluster.url, storage, ...options })
    opened.push(instance)
    await expect.poll(() => accounts.every(({ id }) => instance.link.isReady(toUsedKey(id))), poll).toBe(true)
    return instance
  }
  beforeAll(async () => {
    cluster = await startRedisCluster()
    storage = await openStorage(await sqlite.create())
  }, 60_000)
  afterEach(async () => {
    for (const instance of opened.splice(0)) await instance.close()
  })
  afterAll(async () => {
    await cluster.close()
    await storage.close()
    await sqlite.stop()
  })

  test('instances grant accounts of all shards exactly their limits', async () => {
    const instances: TestInstance[] = [await open(), await open(), await open()]
    const grants = await Promise.all(
      accounts.flatMap((account) =>
        instances.flatMap((instance) => Array.from({ length: 50 }, () => instance.take(account))),
      ),
    )
    expect(sum(grants.map(({ granted }) => granted))).toBe(accounts.length * 150)
    const [one] = instances as [TestInstance]
    const rest = await Promise.all(accounts.map((account) => one.take(account, 200)))
    expect(rest.map((grant) => grant.granted)).toEqual(accounts.map(() => 150))
  })

  test('a shard that is lost concerns its own accounts only, and its replica continues where it was', async () => {
    const fresh = accounts.map((account) => ({ ...account, id: `${account.id}_b` }))
    const one = await open({ outageGrant: 40 })
    await Promise.all(fresh.map((account) => one.take(account, 100)))
    const [lost] = fresh as [QuotaAccount]
    const isOnLostShard = ({ id }: QuotaAccount): boolean =>
      one.link.shardOf(toUsedKey(id)) === one.link.shardOf(toUsedKey(lost.id))
    const others = fresh.filter((account) => !isOnLostShard(account))
    expect(others.length).toBeGreaterThan(5)
    await cluster.whenHealthy()
    const master = await cluster.masterOf(toUsedKey(lost.id))
    await master.kill()
    await expect.poll(() => one.events.length, poll).toBe(1)
    let granted = 0
    for (let call = 0; call < 10; call += 1) granted += (await one.take(lost)).granted
    expect(granted).toBe(10)
    expect(sum((await Promise.all(others.map((account) => one.take(account)))).map((grant) => grant.granted))).toBe(
      others.length,
    )
    await expect(one.take(lost)).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    // The replica took over, with the 100 units from before.
    const other = await open({ outageGrant: 0 })
    const after = await other.take(lost, 300)
    expect(after.granted).toBeGreaterThanOrEqual(190)
    expect(after.granted).toBeLessThanOrEqual(200)
    await master.start()
    await cluster.whenHealthy()
  })
})
