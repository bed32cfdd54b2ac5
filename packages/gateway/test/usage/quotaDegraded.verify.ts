import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createQuota } from '../../src/usage/quota/createQuota.ts'
import type { QuotaOptions } from '../../src/usage/quota/createQuota.ts'
import type { QuotaEvent } from '../../src/usage/quota/quotaEvent.ts'
import type { Quota, QuotaAccount } from '../../src/usage/quota/quota.ts'
import { createQuotaRows } from '../../src/usage/quota/quotaRows.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { databases } from '../storage/databases.ts'
import { startCuttableProxy } from './cuttableProxy.ts'
import type { CuttableProxy } from './cuttableProxy.ts'

let count = 0
const newAccount = (perDay: number | null): QuotaAccount => ({ id: `app:app_${(count += 1)}`, perDay, perMonth: null })

describe.each(databases.filter(({ name }) => name === 'postgres'))(
  'quota while PostgreSQL is unreachable',
  (database) => {
    let direct: Storage
    let through: Storage
    let proxy: CuttableProxy
    const events: QuotaEvent[] = []
    const opened: Quota[] = []
    const open = (options: Partial<QuotaOptions> = {}): Quota => {
      const quota = createQuota({
        storage: through,
        patienceMs: 1_000,
        idleMs: 200,
        onEvent: (event) => events.push(event),
        ...options,
      })
      opened.push(quota)
      return quota
    }
    const getUsed = async ({ id }: QuotaAccount): Promise<number> =>
      (await createQuotaRows(direct).find(id))?.dayUsed ?? 0
    /** Takes calls until one is rejected. */
    const takeAll = async (
      quota: Quota,
      account: QuotaAccount,
      calls = 1,
    ): Promise<{ granted: number; rejection: unknown }> => {
      for (let granted = 0; ;) {
        try {
          const grant = await quota.take(account, calls)
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
      proxy = await startCuttableProxy(Number(url.port))
      direct = await openStorage(options)
      url.port = String(proxy.port)
      through = await openStorage({ databaseUrl: url.href })
    })
    afterEach(async () => {
      proxy.fix()
      await Promise.all(opened.splice(0).map((quota) => quota.close()))
      events.length = 0
    })
    afterAll(async () => {
      await Promise.all([through.close(), direct.close()])
      await proxy.close()
      await database.stop()
    })

    test.each(['cut', 'hang'] as const)(
      'grants each account the rest of its block and outageGrant, and reports degraded mode (%s)',
      async (how) => {
        const [account, other] = [newAccount(25_000), newAccount(25_000)]
        const quota = open({ outageGrant: 40, idleMs: 60_000, patienceMs: 300 })
        await quota.take(account, 5)
        proxy[how]()
        const taken = await takeAll(quota, account)
        expect(taken.granted).toBe(20 + 40)
        expect(taken.rejection).toSatisfy((error) => isStorageError(error, 'unavailable'))
        expect((await takeAll(quota, other, 10)).granted).toBe(40)
        expect(events).toEqual([{ event: 'quotaDegraded', state: 'started' }])
      },
    )

    test('writes the granted calls once the database is back, and reports how many there were', async () => {
      const account = newAccount(1_000)
      const quota = open({ outageGrant: 40 })
      await quota.take(account, 25)
      proxy.cut()
      expect((await takeAll(quota, account)).granted).toBe(40)
      expect(await getUsed(account)).toBe(25)
      proxy.fix()
      await expect.poll(() => getUsed(account)).toBe(65)
      expect(events.at(-1)).toMatchObject({ event: 'quotaDegraded', state: 'ended', accounts: 1, calls: 40 })
      expect(await takeAll(quota, account)).toEqual({ granted: 935, rejection: 'day' })
      await expect.poll(() => getUsed(account)).toBe(1_000)
    })

    test('recovers over new connections if the old ones hang forever, and reports one outage', async () => {
      const account = newAccount(5_000)
      const quota = open({ outageGrant: 40, idleMs: 60_000, patienceMs: 300 })
      // As many as the reservation queue has in flight.
      const others = Array.from({ length: 6 }, () => newAccount(1_000))
      await quota.take(account, 25)
      proxy.hang()
      const held = await Promise.all(others.map(async (other) => quota.take(other, 5)))
      expect(held.map(({ granted }) => granted)).toEqual([5, 5, 5, 5, 5, 5])
      expect((await takeAll(quota, account)).granted).toBe(40)
      proxy.strand()
      await expect.poll(() => events.at(-1)).toMatchObject({ state: 'ended' })
      for (const each of [account, ...others]) {
        expect(await quota.take(each, 30)).toMatchObject({ granted: 30 })
      }
      expect(events).toHaveLength(2)
    })

    test('grants at most what was left when the row was last read, and then rejects for the quota', async () => {
      const account = newAccount(100)
      const quota = open({ outageGrant: 500 })
      await quota.take(account, 90)
      proxy.cut()
      expect(await takeAll(quota, account)).toEqual({ granted: 10, rejection: 'day' })
      proxy.fix()
      await expect.poll(() => getUsed(account)).toBe(100)
      expect(await quota.take(account, 1)).toMatchObject({ granted: 0, rejectedBy: 'day' })
    })

    test('calls without a limit are granted synchronously and counted', async () => {
      const account = newAccount(null)
      const quota = open({ outageGrant: 0 })
      proxy.cut()
      expect(quota.take(account, 3_000)).toMatchObject({ granted: 3_000 })
      proxy.fix()
      await expect.poll(() => getUsed(account)).toBe(3_000)
    })

    test('an unstable connection under load leaves at least the granted calls used, and at most a lost response more per outage', async () => {
      const account = newAccount(4_000)
      const quota = open({ outageGrant: 100 })
      let granted = 0
      let stopped = false
      const callers = Promise.all(
        Array.from({ length: 8 }, async () => {
          while (!stopped) {
            const grant = await Promise.resolve(quota.take(account, 1)).catch(() => undefined)
            granted += grant?.granted ?? 0
            await new Promise((resolve) => setTimeout(resolve, 1))
          }
        }),
      )
      for (let round = 0; round < 4; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 150))
        proxy.cut()
        await new Promise((resolve) => setTimeout(resolve, 150))
        proxy.fix()
      }
      await expect.poll(() => events.at(-1)).toMatchObject({ state: 'ended' })
      stopped = true
      await callers
      await quota.close()
      const used = await getUsed(account)
      expect(granted).toBeGreaterThan(100)
      expect(used).toBeGreaterThanOrEqual(granted)
      expect(used).toBeLessThanOrEqual(granted + 4 * (25 + 100))
    })
  },
)
