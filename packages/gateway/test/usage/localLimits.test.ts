import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import type { LocalLimitsOptions } from '../../src/usage/limits/createLocalLimits.ts'
import type { QuotaAccount, QuotaGrant } from '../../src/usage/limits/usageLimits.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { databases } from '../storage/databases.ts'
import { openQuota } from './openQuota.ts'
import type { TestQuota as Quota } from './openQuota.ts'

const noon = Date.UTC(2026, 10, 21, 12)
const hour = 3_600_000

let count = 0
const newAccount = (perDay: number | null, perMonth: number | null = null): QuotaAccount => ({
  id: `user:usr_${(count += 1)}`,
  perDay,
  perMonth,
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const grantedBy = (grants: readonly QuotaGrant[]): number => sum(grants.map(({ granted }) => granted))
const times = <T>(times: number, work: (index: number) => T): T[] =>
  Array.from({ length: times }, (_, index) => work(index))

describe.each(databases)('local limits on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  const opened: { close(): Promise<void> }[] = []
  let clock = noon
  const open = (more: LocalLimitsOptions = {}): Quota => {
    const quota = openQuota({ storage, now: () => clock, ...more })
    opened.push(quota)
    return quota
  }
  /** What the storage says, reserved units included. */
  const getSums = async (account: QuotaAccount, ms = clock) =>
    (await createAccountDays(storage).read([account.id], getUtcDay(ms))).get(account.id) ?? { day: 0, month: 0 }
  const getUsed = async (account: QuotaAccount): Promise<number> => (await getSums(account)).day

  beforeAll(async () => {
    options = await database.create()
    storage = await openStorage(options)
  })
  afterEach(async () => {
    clock = noon
    await Promise.all(opened.splice(0).map((quota) => quota.close()))
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })

  test('grants concurrent requests exactly the daily limit', async () => {
    const account = newAccount(25_000)
    const quota = open()
    const grants = await Promise.all(times(27_000, async () => quota.take(account, 1)))
    expect(grantedBy(grants)).toBe(25_000)
    // In order of arrival.
    expect(grants.findIndex(({ granted }) => granted === 0)).toBe(25_000)
    expect(grants[26_000]).toEqual({
      granted: 0,
      charged: 0,
      rejectedBy: 'day',
      limit: 25_000,
      remaining: 0,
      resetAtMs: Date.UTC(2026, 10, 22),
      account,
      day: '2026-11-21',
    })
    expect(await quota.usage(account)).toEqual({
      day: { used: 25_000, limit: 25_000, resetAtMs: Date.UTC(2026, 10, 22) },
      month: { used: 25_000, limit: null, resetAtMs: Date.UTC(2026, 11, 1) },
    })
  })

  test('decides synchronously while the reserved block has enough', async () => {
    const account = newAccount(1_000)
    const quota = open()
    expect(quota.take(account, 1)).toBeInstanceOf(Promise)
    expect(await quota.take(account, 1)).toMatchObject({ granted: 1 })
    const later = times(20, () => quota.take(account, 1))
    expect(later.some((grant) => grant instanceof Promise)).toBe(false)
    expect(later.at(-1)).toMatchObject({ granted: 1, remaining: 978, limit: 1_000 })
  })

  test('grants the first calls of a batch that fit', async () => {
    const account = newAccount(120)
    const quota = open()
    const taken = [await quota.take(account, 100), await quota.take(account, 100), await quota.take(account, 1)]
    expect(taken.map(({ granted, rejectedBy, remaining }) => [granted, rejectedBy, remaining])).toEqual([
      [100, undefined, 20],
      [20, 'day', 0],
      [0, 'day', 0],
    ])
  })

  test('enforces both windows and names the month if that is used up', async () => {
    const account = newAccount(100, 130)
    const quota = open()
    expect(await quota.take(account, 100)).toMatchObject({ granted: 100, limit: 100 })
    clock += 24 * hour
    expect(await quota.take(account, 100)).toMatchObject({
      granted: 30,
      rejectedBy: 'month',
      limit: 130,
      remaining: 0,
      resetAtMs: Date.UTC(2026, 11, 1),
    })
    clock = Date.UTC(2026, 11, 1)
    expect(await quota.take(account, 120)).toMatchObject({ granted: 100, rejectedBy: 'day', limit: 100, remaining: 0 })
    expect((await quota.usage(account)).month.used).toBe(100)
  })

  test('without limits grants all calls synchronously and counts them', async () => {
    const account = newAccount(null)
    const quota = open()
    expect(quota.take(account, 5_000)).toMatchObject({ granted: 5_000, limit: null, remaining: null })
    expect((await quota.usage(account)).day).toMatchObject({ used: 5_000, limit: null })
    await quota.close()
    expect(await getUsed(account)).toBe(5_000)
  })

  test('returned calls can be granted again, at most as many as the grant had', async () => {
    const account = newAccount(100)
    const quota = open()
    const grant = await quota.take(account, 100)
    for (const calls of [30, 30, 60, 1_000]) quota.giveBack(grant, calls)
    expect((await quota.usage(account)).day.used).toBe(0)
    expect(grantedBy(await Promise.all(times(150, async () => quota.take(account, 1))))).toBe(100)
    quota.giveBack(await quota.take(account, 1), 1)
    expect(await quota.take(account, 1)).toMatchObject({ granted: 0 })
  })

  test('close returns unused reservations, and a new quota continues from there', async () => {
    const account = newAccount(1_000)
    const first = open()
    await first.take(account, 3)
    expect(await getUsed(account)).toBe(28)
    await first.close()
    expect(await getUsed(account)).toBe(3)
    await expect(first.take(account, 1)).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    const second = open()
    expect(await second.take(account, 1)).toMatchObject({ granted: 1, remaining: 996 })
  })

  test('returns an idle block', async () => {
    const account = newAccount(1_000)
    const quota = open({ idleMs: 40 })
    await quota.take(account, 3)
    await expect.poll(() => getUsed(account)).toBe(3)
    expect(await quota.take(account, 1)).toMatchObject({ granted: 1 })
  })

  test('resets at midnight UTC, and calls of the previous day cannot be returned to the next', async () => {
    const account = newAccount(50)
    const quota = open()
    clock = Date.UTC(2026, 10, 22) - 1
    const late = await quota.take(account, 40)
    clock += 1
    const next = await quota.take(account, 60)
    expect([late.day, late.granted, next.day, next.granted]).toEqual(['2026-11-21', 40, '2026-11-22', 50])
    quota.giveBack(late, 40)
    expect(await quota.take(account, 1)).toMatchObject({ granted: 0 })
  })

  test('a reservation made before midnight is not used for the next day', async () => {
    const account = newAccount(1_000)
    const quota = open()
    clock = Date.UTC(2026, 10, 22) - 1
    const early = quota.take(account, 10)
    clock += 1
    const late = quota.take(account, 10)
    expect((await Promise.all([early, late])).map(({ day, granted }) => [day, granted])).toEqual([
      ['2026-11-22', 10],
      ['2026-11-22', 10],
    ])
    await quota.close()
    expect(await getSums(account)).toEqual({ day: 20, month: 20 })
  })

  test('a clock that steps back does not reopen a day, in this or another process', async () => {
    const account = newAccount(50)
    const quota = open()
    await quota.take(account, 50)
    clock += 24 * hour
    expect(await quota.take(account, 30)).toMatchObject({ granted: 30, day: '2026-11-22' })
    clock -= 24 * hour
    expect(await quota.take(account, 30)).toMatchObject({ granted: 20, day: '2026-11-22' })
    const other = open()
    expect(await other.take(account, 1)).toMatchObject({ granted: 0 })
  })

  test('applies a raised or lowered limit to the next call', async () => {
    const account = newAccount(10)
    const quota = open()
    expect(await quota.take(account, 11)).toMatchObject({ granted: 10 })
    expect(await quota.take({ ...account, perDay: 20 }, 11)).toMatchObject({ granted: 10, limit: 20 })
    expect(await quota.take({ ...account, perDay: 5 }, 1)).toMatchObject({ granted: 0, limit: 5, remaining: 0 })
  })

  test('calls over the limit are rejected without a query', async () => {
    const account = newAccount(10)
    const quota = open()
    await quota.take(account, 11)
    const rejected = times(1_000, () => quota.take(account, 1))
    expect(rejected.filter((grant) => grant instanceof Promise)).toHaveLength(0)
  })

  test('four processes on one database never grant more than the daily limit', async () => {
    const account = newAccount(5_000)
    const storages = await Promise.all(times(4, () => openStorage(options)))
    const quotas = storages.map((each) => openQuota({ storage: each, now: () => clock, idleMs: 200 }))
    /** One caller with sequential calls; each instance has 32 of them. */
    const caller = async (quota: Quota): Promise<number> => {
      let granted = 0
      for (let call = 0; call < 63; call += 1) granted += (await quota.take(account, 1)).granted
      return granted
    }
    const granted = sum(await Promise.all(quotas.flatMap((quota) => times(32, () => caller(quota)))))
    expect(granted).toBeLessThanOrEqual(5_000)
    // Each may still hold what it had reserved ahead.
    expect(granted).toBeGreaterThanOrEqual(5_000 - 4 * 25)
    await Promise.all(quotas.map((quota) => quota.close()))
    expect(await getUsed(account)).toBe(granted)
    await Promise.all(storages.map((each) => each.close()))
  })

  test('four processes never grant more than the daily limit to 40,000 concurrent calls', async () => {
    const account = newAccount(25_000)
    const storages = await Promise.all(times(4, () => openStorage(options)))
    const quotas = storages.map((each) => openQuota({ storage: each, now: () => clock }))
    const grants = await Promise.all(quotas.flatMap((quota) => times(10_000, async () => quota.take(account, 1))))
    // Each may still hold what it had reserved ahead.
    expect(grantedBy(grants)).toBeLessThanOrEqual(25_000)
    expect(grantedBy(grants)).toBeGreaterThanOrEqual(25_000 - 4 * 25)
    await Promise.all(quotas.map((quota) => quota.close()))
    expect(await getUsed(account)).toBe(grantedBy(grants))
    await Promise.all(storages.map((each) => each.close()))
  })

  test('stays within the limits after any sequence of takes, returns, days and restarts on two instances', async () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          op: fc.constant('take' as const),
          by: fc.nat(1),
          calls: fc.integer({ min: 1, max: 60 }),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          op: fc.constant('back' as const),
          which: fc.nat(20),
          calls: fc.integer({ min: 1, max: 80 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ op: fc.constant('wait' as const), ms: fc.constantFrom(-hour, hour, 7 * hour) }),
      },
      { weight: 1, arbitrary: fc.record({ op: fc.constant('restart' as const), by: fc.nat(1) }) },
      { weight: 2, arbitrary: fc.record({ op: fc.constant('await' as const) }) },
    )
    const limits = fc.record({
      perDay: fc.option(fc.integer({ min: 1, max: 900 })),
      perMonth: fc.option(fc.integer({ min: 1, max: 1_500 })),
    })
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { minLength: 5, maxLength: 60 }), async ({ perDay, perMonth }, steps) => {
        clock = noon
        const account = newAccount(perDay, perMonth)
        const quotas = [open({ idleMs: 60_000 }), open({ idleMs: 60_000 })]
        const grants: { quota: Quota; grant: QuotaGrant; back: number }[] = []
        /** The latest day on which each was used: a clock that steps back reopens none. */
        const days = new Map<Quota, string>()
        const latestDay = (quota: Quota): string => {
          const [day = ''] = [days.get(quota) ?? '', new Date(clock).toISOString().slice(0, 10)].sort().slice(-1)
          days.set(quota, day)
          return day
        }
        let pending: Promise<void>[] = []
        const finishPending = async (): Promise<void> => {
          await Promise.all(pending)
          pending = []
        }
        for (const one of steps) {
          if (one.op === 'take') {
            const quota = quotas[one.by]
            if (quota === undefined) continue
            latestDay(quota)
            const taken = Promise.resolve(quota.take(account, one.calls))
            pending.push(taken.then((grant) => void grants.push({ quota, grant, back: 0 })))
          } else if (one.op === 'back') {
            const found = grants[one.which]
            if (found === undefined) continue
            // A closed quota accepts no returns, and neither does a past day.
            if (!quotas.includes(found.quota)) continue
            found.quota.giveBack(found.grant, one.calls)
            const sameDay = found.grant.day === latestDay(found.quota)
            if (sameDay) found.back += Math.min(one.calls, found.grant.granted - found.back)
          } else if (one.op === 'wait') clock += one.ms
          else if (one.op === 'restart') {
            await finishPending()
            await quotas[one.by]?.close()
            quotas[one.by] = open({ idleMs: 60_000 })
          } else await finishPending()
          const perDayUsed = new Map<string, number>()
          const months = new Map<string, number>()
          for (const { grant, back } of grants) {
            expect(grant.granted).toBeGreaterThanOrEqual(0)
            perDayUsed.set(grant.day, (perDayUsed.get(grant.day) ?? 0) + grant.granted - back)
            const month = grant.day.slice(0, 7)
            months.set(month, (months.get(month) ?? 0) + grant.granted - back)
          }
          for (const used of perDayUsed.values()) expect(used).toBeLessThanOrEqual(perDay ?? Infinity)
          for (const used of months.values()) expect(used).toBeLessThanOrEqual(perMonth ?? Infinity)
        }
        await finishPending()
        await Promise.all(quotas.map((quota) => quota.close()))
        const last = grants
          .map(({ grant }) => grant.day)
          .sort()
          .at(-1)
        const used = sum(
          grants.filter(({ grant }) => grant.day === last).map(({ grant, back }) => grant.granted - back),
        )
        // All reservations were returned: the row has what was granted.
        if (last !== undefined) expect((await getSums(account, Date.parse(last))).day).toBe(used)
      }),
      { numRuns: database.name === 'sqlite' ? 150 : 40 },
    )
  })
})
