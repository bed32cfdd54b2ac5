import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import type { LocalLimitsOptions } from '../../src/usage/limits/createLocalLimits.ts'
import type { LimitsEvent, Quota } from '../../src/usage/limits/usageLimits.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { databases } from '../storage/databases.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import type { TcpProxy } from '../startTcpProxy.ts'
import { createPassableClock, openQuota } from './openQuota.ts'
import type { TestQuota } from './openQuota.ts'

let count = 0
const newQuota = (perDay: number | null): Quota => ({ id: `app:app_${(count += 1)}`, perDay, perMonth: null })

describe.each(databases.filter(({ name }) => name === 'postgres'))(
  'local limits while PostgreSQL is unreachable',
  (database) => {
    let direct: Storage
    let through: Storage
    let proxy: TcpProxy
    const events: LimitsEvent[] = []
    const opened: TestQuota[] = []
    const open = (options: LocalLimitsOptions = {}): TestQuota => {
      const local = openQuota({
        storage: through,
        idleMs: 200,
        onEvent: (event) => events.push(event),
        ...options,
      })
      opened.push(local)
      return local
    }
    const getUsed = async ({ id }: Quota): Promise<number> =>
      (await createAccountDays(direct).read([id], getUtcDay(Date.now()))).get(id)?.day ?? 0
    /** Takes calls until one is rejected. */
    const takeAll = async (
      local: TestQuota,
      quota: Quota,
      calls = 1,
    ): Promise<{ granted: number; rejection: unknown }> => {
      for (let granted = 0; ;) {
        try {
          const grant = await local.take(quota, calls)
          granted += grant.granted
          if (grant.granted < calls) return { granted, rejection: grant.rejectedBy }
        } catch (error) {
          return { granted, rejection: error }
        }
      }
    }

    beforeAll(async () => {
      const options = await database.create()
      if (!('databaseUrl' in options)) throw new Error('unreachable')
      const url = new URL(options.databaseUrl)
      proxy = await startTcpProxy(Number(url.port))
      direct = await openStorage(options)
      url.port = String(proxy.port)
      through = await openStorage({ databaseUrl: url.href })
    })
    afterEach(async () => {
      proxy.fix()
      await Promise.all(opened.splice(0).map((local) => local.close()))
      events.length = 0
    })
    afterAll(async () => {
      await Promise.all([through.close(), direct.close()])
      await proxy.close()
      await database.stop()
    })

    test('grants each quota what was reserved ahead and outageGrant, and reports the outage', async () => {
      const [quota, other] = [newQuota(25_000), newQuota(25_000)]
      const local = open({ outageGrant: 40, idleMs: 60_000 })
      await local.take(quota, 5)
      proxy.cut()
      // The first call that needs the database finds out.
      const taken = await takeAll(local, quota)
      expect(taken.granted).toBe(25 + 40)
      expect(taken.rejection).toSatisfy((error) => isStorageError(error, 'unavailable'))
      expect((await takeAll(local, other, 10)).granted).toBe(40)
      expect(events).toEqual([{ event: 'quotaDegraded', state: 'started' }])
    })

    test('a database that hangs is slow, not lost: requests wait, and then get an error', async () => {
      const quota = newQuota(25_000)
      const { clock, passPatience } = createPassableClock()
      const local = open({ outageGrant: 40, idleMs: 600_000, clock })
      await local.take(quota, 5)
      proxy.hang()
      const taking = takeAll(local, quota)
      await nextTurn()
      passPatience()
      const taken = await taking
      expect(taken.granted).toBe(25)
      expect(taken.rejection).toSatisfy((error) => isStorageError(error, 'unavailable'))
      expect(events).toEqual([])
      proxy.fix()
      await expect
        .poll(async () => Promise.resolve(local.take(quota, 30)).catch(() => undefined))
        .toMatchObject({ granted: 30 })
    })

    test('writes the granted calls once the database is back, and reports how many there were', async () => {
      const quota = newQuota(1_000)
      const local = open({ outageGrant: 40 })
      await local.take(quota, 25)
      proxy.cut()
      expect((await takeAll(local, quota)).granted).toBe(25 + 40)
      expect(await getUsed(quota)).toBe(50)
      proxy.fix()
      await expect.poll(() => events.at(-1)).toMatchObject({ state: 'ended', quotas: 1, units: 40 })
      await expect.poll(() => getUsed(quota)).toBe(90)
      expect(await takeAll(local, quota)).toEqual({ granted: 910, rejection: 'day' })
      await expect.poll(() => getUsed(quota)).toBe(1_000)
    })

    test('grants at most what was left when the row was last read, and then rejects for the quota', async () => {
      const quota = newQuota(100)
      const local = open({ outageGrant: 500 })
      await local.take(quota, 90)
      proxy.cut()
      expect(await takeAll(local, quota)).toEqual({ granted: 10, rejection: 'day' })
      proxy.fix()
      await expect.poll(() => getUsed(quota)).toBe(100)
      expect(await local.take(quota, 1)).toMatchObject({ granted: 0, rejectedBy: 'day' })
    })

    test('calls without a limit are granted synchronously and counted', async () => {
      const quota = newQuota(null)
      const local = open({ outageGrant: 0 })
      proxy.cut()
      expect(local.take(quota, 3_000)).toMatchObject({ granted: 3_000 })
      proxy.fix()
      await expect.poll(() => getUsed(quota)).toBe(3_000)
    })

    test('an unstable connection under load leaves at least the granted calls used, and at most a lost response more per outage', async () => {
      const quota = newQuota(4_000)
      const local = open({ outageGrant: 100 })
      let granted = 0
      let stopped = false
      const callers = Promise.all(
        Array.from({ length: 8 }, async () => {
          while (!stopped) {
            const grant = await Promise.resolve(local.take(quota, 1)).catch(() => undefined)
            granted += grant?.granted ?? 0
            await wait(1)
          }
        }),
      )
      for (let round = 0; round < 4; round += 1) {
        await wait(150)
        proxy.cut()
        await wait(150)
        proxy.fix()
      }
      await expect.poll(() => events.at(-1)).toMatchObject({ state: 'ended' })
      stopped = true
      await callers
      await local.close()
      const used = await getUsed(quota)
      expect(granted).toBeGreaterThan(100)
      expect(used).toBeGreaterThanOrEqual(granted)
      expect(used).toBeLessThanOrEqual(granted + 4 * (25 + 100))
    })
  },
)
