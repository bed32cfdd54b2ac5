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

describe.each(databases.filter(({ name }) => name === 'postgres'))('quota while PostgreSQL is gone', (database) => {
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
  const usedOf = async ({ id }: QuotaAccount): Promise<number> => (await createQuotaRows(direct).find(id))?.dayUsed ?? 0
  /** Takes one by one until rejected. */
  const takeAll = async (
    quota: Quota,
    account: QuotaAccount,
    items = 1,
  ): Promise<{ granted: number; end: unknown }> => {
    for (let granted = 0; ;) {
      try {
        const grant = await quota.take(account, items)
        granted += grant.granted
        if (grant.granted < items) return { granted, end: grant.rejectedBy }
      } catch (error) {
        return { granted, end: error }
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
    'grants each account the rest of its block and outageGrant, books that afterwards, and tells of it (%s)',
    async (how) => {
      const [account, other] = [newAccount(25_000), newAccount(25_000)]
      const quota = open({ outageGrant: 40, idleMs: 60_000, patienceMs: 300 })
      await quota.take(account, 5)
      proxy[how]()
      const taken = await takeAll(quota, account)
      expect(taken.granted).toBe(20 + 40)
      expect(taken.end).toSatisfy((error) => isStorageError(error, 'unavailable'))
      expect((await takeAll(quota, other, 10)).granted).toBe(40)
      expect(events).toEqual([{ event: 'quotaDegraded', state: 'began' }])
    },
  )

  test('books what was granted once it is back, counts on, and tells how much it was', async () => {
    const account = newAccount(1_000)
    const quota = open({ outageGrant: 40 })
    await quota.take(account, 25)
    proxy.cut()
    expect((await takeAll(quota, account)).granted).toBe(40)
    expect(await usedOf(account)).toBe(25)
    proxy.fix()
    await expect.poll(() => usedOf(account)).toBe(65)
    expect(events.at(-1)).toMatchObject({ event: 'quotaDegraded', state: 'ended', accounts: 1, items: 40 })
    expect(await takeAll(quota, account)).toEqual({ granted: 935, end: 'day' })
    await expect.poll(() => usedOf(account)).toBe(1_000)
  })

  test('goes on over new connections where the old ones hang on for ever, and tells of one outage', async () => {
    const account = newAccount(5_000)
    const quota = open({ outageGrant: 40, idleMs: 60_000, patienceMs: 300 })
    // As many at once as it asks at once.
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

  test('grants no more than was left when it was last seen, and calls that a quota', async () => {
    const account = newAccount(100)
    const quota = open({ outageGrant: 500 })
    await quota.take(account, 90)
    proxy.cut()
    expect(await takeAll(quota, account)).toEqual({ granted: 10, end: 'day' })
    proxy.fix()
    await expect.poll(() => usedOf(account)).toBe(100)
    expect(await quota.take(account, 1)).toMatchObject({ granted: 0, rejectedBy: 'day' })
  })

  test('what has no limit is not held up, and is counted', async () => {
    const account = newAccount(null)
    const quota = open({ outageGrant: 0 })
    proxy.cut()
    expect(quota.take(account, 3_000)).toMatchObject({ granted: 3_000 })
    proxy.fix()
    await expect.poll(() => usedOf(account)).toBe(3_000)
  })

  test('that comes and goes under load ends with as many used as were granted, or more by what a lost answer hides', async () => {
    const account = newAccount(4_000)
    const quota = open({ outageGrant: 100 })
    let granted = 0
    let ended = false
    const callers = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!ended) {
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
    ended = true
    await callers
    await quota.close()
    const used = await usedOf(account)
    expect(granted).toBeGreaterThan(100)
    expect(used).toBeGreaterThanOrEqual(granted)
    expect(used).toBeLessThanOrEqual(granted + 4 * (25 + 100))
  })
})
