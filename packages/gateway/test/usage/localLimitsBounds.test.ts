import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { createLocalLimits } from '../../src/usage/limits/createLocalLimits.ts'
import type { LimitsEvent, Quota } from '../../src/usage/limits/usageLimits.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { openQuota } from './openQuota.ts'
import { useStorage } from '../storage/useStorage.ts'

let count = 0
const newQuota = (perDay: number | null): Quota => ({ id: `app:app_${(count += 1)}`, perDay, perMonth: null })
const times = <T>(length: number, work: () => T): T[] => Array.from({ length }, work)

// The bounds that docs/service/guarantees.md states for one machine, beside those in localLimits.test.ts.
describe.each(suiteDatabases)('bounds of local limits on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  test('grants the first calls of a batch that fit, by their weights', async () => {
    const local = openQuota({ storage })
    const quota = newQuota(100)
    const grant = await local.take(quota, 4, [50, 30, 30, 1])
    expect(grant).toMatchObject({ granted: 2, charged: 80, remaining: 20, rejectedBy: 'day' })
    local.giveBack(grant, 30)
    expect(await local.take(quota, 2, [50, 1])).toMatchObject({ granted: 1, charged: 50, remaining: 0 })
    await local.close()
  })

  test('with a slow database requests wait, and exactly the limit is granted', async () => {
    const slow: Pick<Storage, 'db' | 'write'> = {
      db: storage.db,
      write: async (...write) => {
        await wait(300)
        return storage.write(...write)
      },
    }
    const events: LimitsEvent[] = []
    const local = openQuota({ storage: slow, onEvent: (event) => events.push(event) })
    const quota = newQuota(60)
    const grants = await Promise.all(times(100, async () => local.take(quota, 1)))
    expect(grants.filter(({ granted }) => granted === 1)).toHaveLength(60)
    expect(events).toEqual([])
    await local.close()
  })

  test('the usage of a quota without a limit is written while the process runs', async () => {
    const local = openQuota({ storage })
    const quota = newQuota(null)
    await local.take(quota, 70)
    const getUsed = async (): Promise<number | undefined> =>
      (await createAccountDays(storage).read([quota.id], getUtcDay(Date.now()))).get(quota.id)?.day
    await expect.poll(getUsed).toBe(70)
    await local.close()
  })

  test('a restart forgets rates', async () => {
    const request = { id: 'key_1', rate: { perSecond: 1, burst: 40 }, quota: undefined, calls: 50, passed: 50 }
    for (let start = 0; start < 2; start += 1) {
      const limits = createLocalLimits({ storage })
      expect(await limits.take(request)).toMatchObject({ granted: 40 })
      await limits.close()
    }
  })
})
