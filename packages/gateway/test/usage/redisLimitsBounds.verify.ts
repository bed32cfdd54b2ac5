import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import type { RedisLimitsOptions } from '../../src/usage/limits/createRedisLimits.ts'
import { toUsedKey } from '../../src/usage/limits/limitScript.ts'
import type { Quota } from '../../src/usage/limits/usageLimits.ts'
import { sqlite } from '../storage/databases.ts'
import { createRedisInstances, getUsed, shortMs, untilLate } from './openRedisInstance.ts'
import type { RedisInstance } from './openRedisInstance.ts'
import { startRedis } from './startRedis.ts'
import type { TestRedis } from './startRedis.ts'

let count = 0
const newQuota = (perDay: number | null): Quota => ({
  id: `app:app_${(count += 1)}`,
  perDay,
  perMonth: null,
})
const times = <T>(length: number, work: (index: number) => T): T[] => Array.from({ length }, (_, index) => work(index))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
const isUnavailable = (error: unknown): boolean => isStorageError(error, 'unavailable')

/** Takes calls one at a time until one is not granted. */
const takeAll = async (instance: RedisInstance, quota: Quota): Promise<number> => {
  for (let granted = 0; ; granted += 1) {
    const grant = await instance.take(quota).catch(() => undefined)
    if (grant === undefined || grant.granted === 0) return granted
  }
}

// The bounds that docs/service/guarantees.md states for a cluster, beside those in redisLimits.test.ts.
describe('bounds of limits on Redis', needs('redis-server'), () => {
  let redis: TestRedis
  let storage: Storage
  const { open, closeAll } = createRedisInstances(() => ({ url: redis.url, storage }))
  beforeAll(async () => {
    storage = await openStorage(await sqlite.create())
  })
  // Many tests stop Redis.
  beforeEach(async () => {
    redis = await startRedis()
  })
  afterEach(async () => {
    redis.resume()
    await closeAll()
    await redis.stop()
  })
  afterAll(async () => {
    await storage.close()
    await sqlite.stop()
  })

  const hasLast = ({ events }: RedisInstance, state: 'started' | 'ended'): boolean => {
    const last = events.at(-1)
    return last?.event === 'quotaDegraded' && last.state === state
  }
  const isLost = (instance: RedisInstance): boolean => hasLast(instance, 'started')
  const isBack = (instance: RedisInstance): boolean => hasLast(instance, 'ended')

  test('three instances share a rate', async () => {
    const instances = await Promise.all(times(3, () => open()))
    const rate = { perSecond: 1, burst: 50 }
    const request = { id: 'key_r', rate, quota: undefined, calls: 1, passed: 1 }
    const before = performance.now()
    const grants = await Promise.all(instances.flatMap(({ limits }) => times(40, async () => limits.take(request))))
    const granted = sum(grants.map((grant) => grant.granted))
    expect(granted).toBeGreaterThanOrEqual(50)
    expect(granted).toBeLessThanOrEqual(51 + (performance.now() - before) / 1_000)
  })

  test('an instance whose clock is wrong charges the day of Redis from its first reply on', async () => {
    const quota = newQuota(100)
    const right = await open()
    await right.take(quota, 10)
    for (const days of [-1, 1]) {
      const wrong = await open({ now: () => Date.now() + days * 86_400_000 })
      expect(await wrong.take(quota, 20)).toMatchObject({ granted: 20, day: getUtcDay(Date.now()).text })
    }
    expect(await getUsed(right, quota)).toBe(50)
  })

  test('a request waits for patienceMs at most, and none waits once Redis is lost for that long', async () => {
    const quota = newQuota(100)
    const one = await open()
    redis.hang()
    const pending = Symbol('pending')
    const taken = one.take(quota).catch(isUnavailable)
    expect(await Promise.race([taken, wait(300, pending)])).toBe(pending)
    one.passPatience()
    expect(await taken).toBe(true)
    await expect.poll(() => isLost(one)).toBe(true)
    one.passPatience()
    expect(await Promise.race([one.take(quota).catch(isUnavailable), nextTurn(pending)])).toBe(true)
  })

  test('all instances together grant at most outageGrant a day without Redis, however often it is lost', async () => {
    const quota = newQuota(1_000)
    const instances = await Promise.all(times(6, () => open({ outageGrant: 40, patienceMs: shortMs })))
    for (const instance of instances) await instance.takeUntilGranted(quota, 1)
    const granted: number[] = []
    for (let round = 0; round < 2; round += 1) {
      redis.hang()
      granted.push(...(await Promise.all(instances.map((instance) => takeAll(instance, quota)))))
      await untilLate()
      redis.resume()
      await Promise.all(instances.map((instance) => expect.poll(() => isBack(instance)).toBe(true)))
    }
    // A quarter of what was left each time; nothing the second time.
    expect(granted).toEqual([10, 8, 6, 4, 3, 3, 0, 0, 0, 0, 0, 0])
    const [one] = instances as [RedisInstance]
    await expect.poll(() => getUsed(one, quota)).toBe(6 + 34)
  })

  test('with outageGrant 0 nothing is granted without Redis', async () => {
    const quota = newQuota(100)
    const one = await open({ outageGrant: 0, patienceMs: shortMs })
    await one.takeUntilGranted(quota, 10)
    redis.hang()
    const ends = await Promise.allSettled(times(20, () => one.take(quota)))
    await untilLate()
    expect(ends.every((end) => end.status === 'rejected' && isUnavailable(end.reason))).toBe(true)
    redis.resume()
    await expect.poll(() => isBack(one)).toBe(true)
    expect(await getUsed(one, quota)).toBe(10)
  })

  test('without Redis a used-up quota stays used up, also after a second', async () => {
    const quota = newQuota(5)
    const one = await open()
    await one.take(quota, 6)
    await redis.kill()
    await expect.poll(() => isLost(one)).toBe(true)
    await wait(1_100)
    expect(await one.take(quota)).toMatchObject({ granted: 0, rejectedBy: 'day' })
  })

  test('without Redis each instance decides on rates alone', async () => {
    const instances = [await open(), await open()]
    const rate = { perSecond: 1, burst: 30 }
    const request = { id: 'key_l', rate, quota: undefined, calls: 20, passed: 20 }
    const before = performance.now()
    await redis.kill()
    await Promise.all(instances.map((instance) => expect.poll(() => instance.link.isReady()).toBe(false)))
    for (const { limits } of instances) {
      expect(await limits.take(request)).toMatchObject({ granted: 20 })
      const second = await limits.take(request)
      expect(second.granted).toBeGreaterThanOrEqual(10)
      expect(second.granted).toBeLessThanOrEqual(11 + (performance.now() - before) / 1_000)
    }
  })

  test('a slow or lost ledger concerns only quotas that Redis does not have', async () => {
    const rows = createAccountDays(storage)
    let isLedgerLost = false
    const none = (): void => {}
    let respond = none
    const slow: RedisLimitsOptions['rows'] = {
      read: async (...query) => {
        if (isLedgerLost) throw new Error('lost')
        await new Promise<void>((resolve) => (respond = resolve))
        return rows.read(...query)
      },
    }
    const [known, other, third] = [newQuota(100), newQuota(100), newQuota(100)]
    await (await open()).take(known)
    const one = await open({ rows: slow })
    let isTaken = false
    const taken = one.take(other).finally(() => (isTaken = true))
    await expect.poll(() => respond).not.toBe(none)
    expect(await one.take(known)).toMatchObject({ granted: 1 })
    expect(isTaken).toBe(false)
    respond()
    expect(await taken).toMatchObject({ granted: 1 })
    isLedgerLost = true
    expect(await one.take(known)).toMatchObject({ granted: 1 })
    await expect(one.take(third)).rejects.toSatisfy(isUnavailable)
    expect(one.events).toEqual([])
  })

  test('if Redis loses its data, the limit is exceeded by no more than killed instances had not written', async () => {
    const quota = newQuota(100)
    const killed = await open()
    await killed.take(quota, 30)
    await killed.flush()
    await killed.take(quota, 20)
    const other = await open()
    // Closing writes nothing, like a kill.
    await killed.close()
    await redis.kill()
    await redis.start()
    await expect.poll(() => other.link.isReady()).toBe(true)
    expect(await other.take(quota, 100)).toMatchObject({ granted: 70, rejectedBy: 'day' })
  })

  test('after a failover that lost charges, an instance that has not seen them grants no more than the limit', async () => {
    const [one, other] = [await open({ outageGrant: 0 }), await open({ outageGrant: 0 })]
    const quota = newQuota(100)
    await one.take(quota, 10)
    await other.take(quota, 10)
    const key = toUsedKey(quota.id)
    const before = (await one.link.client.getBuffer(key)) ?? Buffer.alloc(0)
    await one.take(quota, 30)
    await one.link.client.set(key, before)
    for (const { link } of [one, other]) {
      const ready = once(link.client, 'ready')
      const { disconnect } = link.client as unknown as { disconnect(reconnect: boolean): void }
      disconnect.call(link.client, true)
      await ready
    }
    // `one` has reported what it saw to Redis.
    const grants = [await other.take(quota, 60), await one.take(quota, 60)]
    expect(grants.map(({ granted }) => granted)).toEqual([50, 0])
  })
})
