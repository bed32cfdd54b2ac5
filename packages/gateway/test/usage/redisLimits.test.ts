import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import type { RedisLink } from '../../src/storage/redis/redisLink.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import type { RedisLimitsOptions } from '../../src/usage/limits/createRedisLimits.ts'
import { toRateKey, toUsedKey } from '../../src/usage/limits/limitScript.ts'
import type { Quota } from '../../src/usage/limits/usageLimits.ts'
import { takeTokens } from '../../src/usage/rateLimit/tokenBucket.ts'
import type { RateLimits } from '../../src/usage/rateLimit/rateDecision.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { sqlite } from '../storage/databases.ts'
import { createRedisInstances, getUsed, shortMs, untilLate } from './openRedisInstance.ts'
import type { RedisInstance } from './openRedisInstance.ts'
import { startRedis } from './startRedis.ts'
import type { TestRedis } from './startRedis.ts'

let count = 0
const newQuota = (perDay: number | null, perMonth: number | null = null): Quota => ({
  id: `user:usr_${(count += 1)}`,
  perDay,
  perMonth,
})
const times = <T>(length: number, work: (index: number) => T): T[] => Array.from({ length }, (_, index) => work(index))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

const reconnect = async ({ client }: RedisLink): Promise<void> => {
  const ready = once(client, 'ready')
  const { disconnect } = client as unknown as { disconnect(reconnect: boolean): void }
  disconnect.call(client, true)
  await ready
}

// Each test has quotas of its own, but they share the Redis that some of them stop.
describe('limits on Redis', needs('redis-server'), () => {
  let redis: TestRedis
  let storage: Storage
  const { open, closeAll } = createRedisInstances(() => ({ url: redis.url, storage }))
  beforeAll(async () => {
    redis = await startRedis()
    storage = await openStorage(await sqlite.create())
  })
  afterEach(async () => {
    await closeAll()
  })
  afterAll(async () => {
    await storage.close()
    await sqlite.stop()
    await redis.stop()
  })

  const readLedger = async (quota: Quota): Promise<number> =>
    (await createAccountDays(storage).read([quota.id], getUtcDay(Date.now()))).get(quota.id)?.day ?? 0

  test('three instances with 64 callers each grant exactly the daily limit', async () => {
    const quota = newQuota(2_000)
    const instances = await Promise.all(times(3, () => open()))
    const caller = async ({ take }: RedisInstance): Promise<number> =>
      sum(await Promise.all(times(20, async () => (await take(quota)).granted)))
    const granted = sum(await Promise.all(instances.flatMap((instance) => times(64, () => caller(instance)))))
    expect(granted).toBe(2_000)
    await Promise.all(instances.map(({ flush }) => flush()))
    expect(await readLedger(quota)).toBe(2_000)
  })

  test('grants the first calls of a batch that fit, by their weights, in both windows', async () => {
    const one = await open()
    const quota = newQuota(100, 130)
    expect(await one.take(quota, 4, [50, 30, 30, 1])).toMatchObject({ granted: 2, charged: 80, rejectedBy: 'day' })
    expect(await one.take(quota, 2, [20, 1])).toMatchObject({ granted: 1, charged: 20, remaining: 0 })
    expect(await one.take({ ...quota, perDay: 1_000 }, 40)).toMatchObject({
      granted: 30,
      charged: 30,
      rejectedBy: 'month',
      limit: 130,
      remaining: 0,
    })
    expect(await one.limits.usage(quota)).toMatchObject({ day: { used: 130 }, month: { used: 130 } })
  })

  test('counts calls without a limit', async () => {
    const one = await open()
    const quota = newQuota(null)
    expect(await one.take(quota, 5_000)).toMatchObject({ granted: 5_000, limit: null, remaining: null })
    expect(await getUsed(one, quota)).toBe(5_000)
  })

  test('decides on rates as the local limiter does, with weights', async () => {
    const { limits, link } = await open()
    const request = fc.record({
      calls: fc.integer({ min: 0, max: 6 }),
      weights: fc.option(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 6 }), { nil: undefined }),
    })
    const rates = fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 60 }) })
    await fc.assert(
      fc.asyncProperty(rates, fc.array(request, { maxLength: 12 }), async (rate: RateLimits, requests) => {
        const id = `key_${(count += 1)}`
        const bucket = { spent: 0, updatedAt: 0 }
        for (const { calls, weights } of requests) {
          const before = Date.now()
          const grant = await limits.take({ id, rate, quota: undefined, calls, passed: calls, weights })
          // Redis uses the same clock, and stored when it decided, unless it granted nothing.
          const stored = await link.client.getBuffer(toRateKey(id, undefined))
          const at = Math.max(before, stored?.readDoubleLE(8) ?? 0)
          const candidates = times(Date.now() - at + 1, (later) => {
            const copy = { ...bucket }
            return { copy, decision: takeTokens(copy, rate, { calls, weights }, at + later) }
          })
          expect(candidates.map(({ decision }) => decision)).toContainEqual(grant.rate)
          const same = candidates.find(({ decision }) => isDeepStrictEqual(decision, grant.rate))
          Object.assign(bucket, same?.copy)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('a Redis clock that was set back locks no key out and reopens no day', async () => {
    const one = await open()
    const quota = newQuota(10)
    const rate = { perSecond: 1, burst: 5 }
    const request = { id: 'key_c', rate, quota, calls: 1, passed: 1 }
    await one.limits.take({ ...request, calls: 5, passed: 5 })
    const ahead = Buffer.alloc(16)
    ahead.writeDoubleLE(5_000, 0)
    ahead.writeDoubleLE(Date.now() + 3_600_000, 8)
    await one.link.client.set(toRateKey('key_c', quota.id), ahead)
    expect((await one.limits.take(request)).rate).toMatchObject({ granted: 0 })
    await expect.poll(async () => (await one.limits.take(request)).granted).toBe(1)
    const key = toUsedKey(quota.id)
    const stored = (await one.link.client.getBuffer(key)) ?? Buffer.alloc(0)
    stored.writeUInt32LE(stored.readUInt32LE(0) + 1, 0)
    await one.link.client.set(key, stored)
    expect((await one.take(quota)).day).toBe(getUtcDay(Date.now() + 86_400_000).text)
  })

  test('starts a day and a month later', async () => {
    const one = await open()
    const quota = newQuota(10, 50)
    await one.take(quota, 8)
    const key = toUsedKey(quota.id)
    const stored = (await one.link.client.getBuffer(key)) ?? Buffer.alloc(0)
    const today = stored.readUInt32LE(0)
    const month = stored.readUInt32LE(12)
    const { month: expected } = getUtcDay(Date.now())
    expect([today, month]).toEqual([getUtcDay(Date.now()).day, expected])
    stored.writeUInt32LE(today - 1, 0)
    await one.link.client.set(key, stored)
    const other = await open()
    expect(await other.take(quota, 10)).toMatchObject({ granted: 10 })
    expect(await other.limits.usage(quota)).toMatchObject({ day: { used: 10 }, month: { used: 18 } })
    stored.writeUInt32LE(today - 40, 0)
    stored.writeUInt32LE(month - 1, 12)
    await one.link.client.set(key, stored)
    const third = await open()
    expect(await third.take(quota, 3)).toMatchObject({ granted: 3 })
    expect(await third.limits.usage(quota)).toMatchObject({ day: { used: 3 }, month: { used: 3 } })
  })

  test('returned units can be granted again, once', async () => {
    const one = await open()
    const quota = newQuota(100)
    const grant = await one.take(quota, 100)
    expect([30, 30, 60, 1_000].map((units) => one.limits.giveBack(grant, units))).toEqual([30, 30, 40, 0])
    await expect.poll(() => getUsed(one, quota)).toBe(0)
    const other = await open()
    expect(await other.take(quota, 150)).toMatchObject({ granted: 100 })
    await Promise.all([one.flush(), other.flush()])
    expect(await readLedger(quota)).toBe(100)
  })

  test('what another instance returned is granted a second later', async () => {
    const [one, other] = [await open(), await open()]
    const quota = newQuota(100)
    const grant = await other.take(quota, 60)
    expect(await one.take(quota, 50)).toMatchObject({ granted: 40, remaining: 0 })
    other.limits.giveBack(grant, 30)
    await expect.poll(async () => (await one.take(quota)).granted).toBe(1)
    expect(await one.take(quota, 50)).toMatchObject({ granted: 29 })
  })

  test('a quota that is used up is rejected without Redis for a second, and its rate is charged', async () => {
    const one = await open()
    const quota = newQuota(3)
    await one.take(quota, 5)
    const request = { id: 'key_u', rate: { perSecond: 1, burst: 10 }, quota, calls: 1, passed: 1 }
    const grants = times(10, () => one.limits.take(request))
    expect(grants.some((grant) => grant instanceof Promise)).toBe(false)
    expect(grants.at(-1)).toMatchObject({ granted: 0, rate: { granted: 1, remaining: 0 }, quota: { granted: 0 } })
    expect(one.limits.take(request)).toMatchObject({ granted: 0, rate: { granted: 0 } })
  })

  test('a quota that Redis does not have is seeded from the ledger', async () => {
    const one = await open()
    const quota = newQuota(1_000)
    await one.take(quota, 700)
    await one.flush()
    await one.link.client.del(toUsedKey(quota.id))
    const other = await open()
    expect(await other.take(quota, 500)).toMatchObject({ granted: 300, rejectedBy: 'day' })
    expect(await getUsed(other, quota)).toBe(1_000)
  })

  test('an instance that was idle since its start seeds quotas at once', async () => {
    const one = await open()
    // More than the time for which instances wait for each other's writes after a reconnect.
    one.passPatience()
    expect(await one.take(newQuota(100))).toMatchObject({ granted: 1, remaining: 99 })
  })

  test('a seed that is older than two seconds is rejected', async () => {
    let reads = 0
    const rows = createAccountDays(storage)
    let release = (): void => {}
    const slow: RedisLimitsOptions['rows'] = {
      read: async (...query) => {
        reads += 1
        const read = await rows.read(...query)
        if (reads === 1) await new Promise<void>((resolve) => (release = resolve))
        return read
      },
    }
    const one = await open({ rows: slow })
    const quota = newQuota(100)
    const taken = one.take(quota)
    await expect.poll(() => reads).toBe(1)
    const other = await open()
    await other.take(quota, 60)
    await other.flush()
    await one.link.client.del(toUsedKey(quota.id))
    await new Promise((resolve) => setTimeout(resolve, 2_100))
    release()
    expect(await taken).toMatchObject({ granted: 1, remaining: 39 })
    expect(reads).toBe(2)
  })

  test('a Redis that has lost the last charges gets the usage that was seen', async () => {
    const [one, other] = [await open({ outageGrant: 0 }), await open({ outageGrant: 0 })]
    const quota = newQuota(100)
    await one.take(quota, 20)
    const key = toUsedKey(quota.id)
    const before = (await one.link.client.getBuffer(key)) ?? Buffer.alloc(0)
    await one.take(quota, 70)
    await other.take(quota, 1)
    // What a failover does.
    await one.link.client.set(key, before)
    await Promise.all([one, other].map(({ link }) => reconnect(link)))
    expect(await other.take(quota, 100)).toMatchObject({ granted: 9 })
    expect(await one.take(quota, 100)).toMatchObject({ granted: 0 })
  })

  test('a slow Redis is not a lost one: requests wait, and nothing is granted twice', async () => {
    const quota = newQuota(50)
    const one = await open()
    await one.take(quota, 40)
    redis.hang()
    const waiting = times(20, () => one.take(quota))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    redis.resume()
    const grants = await Promise.all(waiting)
    expect(sum(grants.map(({ granted }) => granted))).toBe(10)
    expect(one.events).toEqual([])
  })

  test('a slow ledger does not count as a lost Redis: no permits are granted', async () => {
    const rows = createAccountDays(storage)
    let release = (): void => {}
    let [isSlow, isReading] = [false, false]
    const slow: RedisLimitsOptions['rows'] = {
      read: async (...query) => {
        isReading = isSlow
        if (isSlow) await new Promise<void>((resolve) => (release = resolve))
        return rows.read(...query)
      },
    }
    const [one, other] = [await open({ rows: slow, outageGrant: 40 }), await open({ outageGrant: 0 })]
    const quota = newQuota(100)
    await one.take(quota, 50)
    await one.flush()
    await one.link.client.del(toUsedKey(quota.id))
    isSlow = true
    const rejected = one.take(quota, 5)
    await expect.poll(() => isReading).toBe(true)
    one.passPatience()
    await expect(rejected).rejects.toThrow('did not respond in time')
    expect(await other.take(quota, 100)).toMatchObject({ granted: 50 })
    release()
    expect(await one.take(quota, 5)).toMatchObject({ granted: 0, rejectedBy: 'day' })
    expect(one.events).toEqual([])
  })

  test('while Redis hangs only permits are granted, and they are charged once it is back', async () => {
    const [quota, used, unknown, free] = [newQuota(1_000), newQuota(5), newQuota(1_000), newQuota(null)]
    const one = await open({ patienceMs: shortMs, outageGrant: 40 })
    // The first instance gets a quarter of the outage grant.
    await one.takeUntilGranted(quota, 100)
    await one.takeUntilGranted(used, 5)
    redis.hang()
    try {
      const settled = await Promise.allSettled(times(30, () => one.take(quota)))
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
      const [rejected] = settled.filter(({ status }) => status === 'rejected')
      expect(rejected?.status === 'rejected' && isStorageError(rejected.reason, 'unavailable')).toBe(true)
      expect(await one.take(used)).toMatchObject({ granted: 0, rejectedBy: 'day' })
      await expect(one.take(unknown)).rejects.toThrow('did not respond in time')
      expect(await one.take(free, 7)).toMatchObject({ granted: 7 })
      expect(one.events).toEqual([{ event: 'quotaDegraded', state: 'started' }])
      await untilLate()
    } finally {
      redis.resume()
    }
    await expect.poll(() => one.events.at(-1)).toMatchObject({ state: 'ended', quotas: 2, units: 17 })
    await expect.poll(() => getUsed(one, quota)).toBe(110)
    await one.flush()
    expect(await readLedger(quota)).toBe(110)
    expect(await readLedger(free)).toBe(7)
    await one.takeUntilGranted(quota, 1)
    expect(await getUsed(one, quota)).toBe(111)
  })

  test('units that Redis charges to requests that wait no longer are returned, and those granted without it stay charged', async () => {
    const one = await open({ outageGrant: 40 })
    const quota = newQuota(1_000)
    await one.take(quota, 100)
    redis.hang()
    try {
      const settling = Promise.allSettled(times(30, () => one.take(quota)))
      one.passPatience()
      expect((await settling).filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    } finally {
      redis.resume()
    }
    await expect.poll(() => one.events.at(-1)).toMatchObject({ state: 'ended', units: 10 })
    // After what was returned.
    await one.link.ping()
    expect(await getUsed(one, quota)).toBeGreaterThanOrEqual(110)
  })

  test('a Redis that comes back empty is seeded with what was granted, without it too', async () => {
    const quota = newQuota(500)
    const instances = [await open({ outageGrant: 80 }), await open({ outageGrant: 80 })]
    const grants = instances.flatMap((instance) => times(150, () => instance.take(quota)))
    let granted = sum((await Promise.all(grants)).map((grant) => grant.granted))
    expect(granted).toBe(300)
    await redis.kill()
    const settling = Promise.allSettled(instances.flatMap((instance) => times(60, () => instance.take(quota))))
    await Promise.all(
      instances.map(({ events }) => expect.poll(() => events.at(-1)).toMatchObject({ state: 'started' })),
    )
    for (const { passPatience } of instances) passPatience()
    const without = await settling
    const permitted = without.filter(({ status }) => status === 'fulfilled').length
    // A quarter of the outage grant, and a quarter of the rest.
    expect(permitted).toBe(20 + 15)
    granted += permitted
    await redis.start()
    const caller = async (instance: RedisInstance): Promise<number> => {
      let total = 0
      for (let call = 0; call < 20; call += 1) total += (await instance.take(quota)).granted
      return total
    }
    await Promise.all(instances.map(({ link }) => expect.poll(() => link.isReady()).toBe(true)))
    granted += sum(await Promise.all(instances.flatMap((instance) => times(8, () => caller(instance)))))
    expect(granted).toBe(500)
    await Promise.all(instances.map(({ flush }) => flush()))
    expect(await readLedger(quota)).toBe(500)
  })

  test('a decision that Redis makes later than a request waits charges nothing', async () => {
    const [patient, impatient] = [await open({ outageGrant: 0 }), await open({ patienceMs: shortMs })]
    const quota = newQuota(100)
    await patient.take(quota, 10)
    const key = toUsedKey(quota.id)
    const before = await patient.link.client.getBuffer(key)
    // Its first reply has the clock of Redis.
    await impatient.takeUntilGranted(newQuota(100), 1)
    redis.hang()
    try {
      await expect(impatient.take(quota)).rejects.toThrow('did not respond in time')
      await untilLate()
    } finally {
      redis.resume()
    }
    await impatient.link.ping()
    expect(await patient.link.client.getBuffer(key)).toEqual(before)
  })

  test('closing rejects requests that wait', async () => {
    const one = await open()
    const quota = newQuota(10)
    const taken = one.take(quota)
    await Promise.all([
      expect(taken).rejects.toSatisfy((error) => isStorageError(error, 'unavailable')),
      one.limits.close(),
    ])
    await expect(one.take(quota)).rejects.toThrow('closed')
  })
})
