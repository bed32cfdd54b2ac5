import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import type { LocalLimitsOptions } from '../../src/usage/limits/createLocalLimits.ts'
import type { Quota, QuotaGrant } from '../../src/usage/limits/usageLimits.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { openQuota } from './openQuota.ts'
import type { TestQuota } from './openQuota.ts'

const noon = Date.UTC(2026, 10, 21, 12)
const hour = 3_600_000

let count = 0
const newQuota = (perDay: number | null, perMonth: number | null = null): Quota => ({
  id: `user:usr_${(count += 1)}`,
  perDay,
  perMonth,
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const grantedBy = (grants: readonly QuotaGrant[]): number => sum(grants.map(({ granted }) => granted))
const times = <T>(times: number, work: (index: number) => T): T[] =>
  Array.from({ length: times }, (_, index) => work(index))

describe.each(suiteDatabases)('local limits on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  const opened: { close(): Promise<void> }[] = []
  let clock = noon
  const open = (more: LocalLimitsOptions = {}): TestQuota => {
    const local = openQuota({ storage, now: () => clock, ...more })
    opened.push(local)
    return local
  }
  /** What the storage says, reserved units included. */
  const getSums = async (quota: Quota, ms = clock) =>
    (await createAccountDays(storage).read([quota.id], getUtcDay(ms))).get(quota.id) ?? { day: 0, month: 0 }
  const getUsed = async (quota: Quota): Promise<number> => (await getSums(quota)).day

  beforeAll(async () => {
    options = await database.create()
    storage = await openStorage(options)
  })
  afterEach(async () => {
    clock = noon
    await Promise.all(opened.splice(0).map((local) => local.close()))
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })

  test('grants concurrent requests exactly the daily limit', async () => {
    const quota = newQuota(25_000)
    const local = open()
    const grants = await Promise.all(times(27_000, async () => local.take(quota, 1)))
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
      quota,
      day: '2026-11-21',
    })
    expect(await local.usage(quota)).toEqual({
      day: { used: 25_000, limit: 25_000, resetAtMs: Date.UTC(2026, 10, 22) },
      month: { used: 25_000, limit: null, resetAtMs: Date.UTC(2026, 11, 1) },
    })
  })

  test('decides synchronously while the reserved block has enough', async () => {
    const quota = newQuota(1_000)
    const local = open()
    expect(local.take(quota, 1)).toBeInstanceOf(Promise)
    expect(await local.take(quota, 1)).toMatchObject({ granted: 1 })
    const later = times(20, () => local.take(quota, 1))
    expect(later.some((grant) => grant instanceof Promise)).toBe(false)
    expect(later.at(-1)).toMatchObject({ granted: 1, remaining: 978, limit: 1_000 })
  })

  test('grants the first calls of a batch that fit', async () => {
    const quota = newQuota(120)
    const local = open()
    const taken = [await local.take(quota, 100), await local.take(quota, 100), await local.take(quota, 1)]
    expect(taken.map(({ granted, rejectedBy, remaining }) => [granted, rejectedBy, remaining])).toEqual([
      [100, undefined, 20],
      [20, 'day', 0],
      [0, 'day', 0],
    ])
  })

  test('enforces both windows and names the month if that is used up', async () => {
    const quota = newQuota(100, 130)
    const local = open()
    expect(await local.take(quota, 100)).toMatchObject({ granted: 100, limit: 100 })
    clock += 24 * hour
    expect(await local.take(quota, 100)).toMatchObject({
      granted: 30,
      rejectedBy: 'month',
      limit: 130,
      remaining: 0,
      resetAtMs: Date.UTC(2026, 11, 1),
    })
    clock = Date.UTC(2026, 11, 1)
    expect(await local.take(quota, 120)).toMatchObject({ granted: 100, rejectedBy: 'day', limit: 100, remaining: 0 })
    expect((await local.usage(quota)).month.used).toBe(100)
  })

  test('without limits grants all calls synchronously and counts them', async () => {
    const quota = newQuota(null)
    const local = open()
    expect(local.take(quota, 5_000)).toMatchObject({ granted: 5_000, limit: null, remaining: null })
    expect((await local.usage(quota)).day).toMatchObject({ used: 5_000, limit: null })
    await local.close()
    expect(await getUsed(quota)).toBe(5_000)
  })

  test('returned calls can be granted again, at most as many as the grant had', async () => {
    const quota = newQuota(100)
    const local = open()
    const grant = await local.take(quota, 100)
    expect([30, 30, 60, 1_000].map((calls) => local.giveBack(grant, calls))).toEqual([30, 30, 40, 0])
    expect((await local.usage(quota)).day.used).toBe(0)
    expect(grantedBy(await Promise.all(times(150, async () => local.take(quota, 1))))).toBe(100)
    local.giveBack(await local.take(quota, 1), 1)
    expect(await local.take(quota, 1)).toMatchObject({ granted: 0 })
  })

  test('close returns unused reservations, and a new quota continues from there', async () => {
    const quota = newQuota(1_000)
    const first = open()
    await first.take(quota, 3)
    expect(await getUsed(quota)).toBe(28)
    await first.close()
    expect(await getUsed(quota)).toBe(3)
    await expect(first.take(quota, 1)).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    const second = open()
    expect(await second.take(quota, 1)).toMatchObject({ granted: 1, remaining: 996 })
  })

  test('returns an idle block', async () => {
    const quota = newQuota(1_000)
    const local = open({ idleMs: 40 })
    await local.take(quota, 3)
    await expect.poll(() => getUsed(quota)).toBe(3)
    expect(await local.take(quota, 1)).toMatchObject({ granted: 1 })
  })

  test('resets at midnight UTC, and calls of the previous day cannot be returned to the next', async () => {
    const quota = newQuota(50)
    const local = open()
    clock = Date.UTC(2026, 10, 22) - 1
    const late = await local.take(quota, 40)
    clock += 1
    const next = await local.take(quota, 60)
    expect([late.day, late.granted, next.day, next.granted]).toEqual(['2026-11-21', 40, '2026-11-22', 50])
    expect(local.giveBack(late, 40)).toBe(0)
    expect(await local.take(quota, 1)).toMatchObject({ granted: 0 })
  })

  test('a reservation made before midnight is not used for the next day', async () => {
    const quota = newQuota(1_000)
    const local = open()
    clock = Date.UTC(2026, 10, 22) - 1
    const early = local.take(quota, 10)
    clock += 1
    const late = local.take(quota, 10)
    expect((await Promise.all([early, late])).map(({ day, granted }) => [day, granted])).toEqual([
      ['2026-11-22', 10],
      ['2026-11-22', 10],
    ])
    await local.close()
    expect(await getSums(quota)).toEqual({ day: 20, month: 20 })
  })

  test('a clock that steps back does not reopen a day, in this or another process', async () => {
    const quota = newQuota(50)
    const local = open()
    await local.take(quota, 50)
    clock += 24 * hour
    expect(await local.take(quota, 30)).toMatchObject({ granted: 30, day: '2026-11-22' })
    clock -= 24 * hour
    expect(await local.take(quota, 30)).toMatchObject({ granted: 20, day: '2026-11-22' })
    const other = open()
    expect(await other.take(quota, 1)).toMatchObject({ granted: 0 })
  })

  test('applies a raised or lowered limit to the next call', async () => {
    const quota = newQuota(10)
    const local = open()
    expect(await local.take(quota, 11)).toMatchObject({ granted: 10 })
    expect(await local.take({ ...quota, perDay: 20 }, 11)).toMatchObject({ granted: 10, limit: 20 })
    expect(await local.take({ ...quota, perDay: 5 }, 1)).toMatchObject({ granted: 0, limit: 5, remaining: 0 })
  })

  test('calls over the limit are rejected without a query', async () => {
    const quota = newQuota(10)
    const local = open()
    await local.take(quota, 11)
    const rejected = times(1_000, () => local.take(quota, 1))
    expect(rejected.filter((grant) => grant instanceof Promise)).toHaveLength(0)
  })

  test('four processes on one database never grant more than the daily limit', async () => {
    const quota = newQuota(5_000)
    const storages = await Promise.all(times(4, () => openStorage(options)))
    const locals = storages.map((each) => openQuota({ storage: each, now: () => clock, idleMs: 200 }))
    /** One caller with sequential calls; each instance has 32 of them. */
    const caller = async (local: TestQuota): Promise<number> => {
      let granted = 0
      for (let call = 0; call < 63; call += 1) granted += (await local.take(quota, 1)).granted
      return granted
    }
    const granted = sum(await Promise.all(locals.flatMap((local) => times(32, () => caller(local)))))
    expect(granted).toBeLessThanOrEqual(5_000)
    // Each may still hold what it had reserved ahead.
    expect(granted).toBeGreaterThanOrEqual(5_000 - 4 * 25)
    await Promise.all(locals.map((local) => local.close()))
    expect(await getUsed(quota)).toBe(granted)
    await Promise.all(storages.map((each) => each.close()))
  })

  test('four processes never grant more than the daily limit to 40,000 concurrent calls', async () => {
    const quota = newQuota(25_000)
    const storages = await Promise.all(times(4, () => openStorage(options)))
    const locals = storages.map((each) => openQuota({ storage: each, now: () => clock }))
    const grants = await Promise.all(locals.flatMap((local) => times(10_000, async () => local.take(quota, 1))))
    // Each may still hold what it had reserved ahead.
    expect(grantedBy(grants)).toBeLessThanOrEqual(25_000)
    expect(grantedBy(grants)).toBeGreaterThanOrEqual(25_000 - 4 * 25)
    await Promise.all(locals.map((local) => local.close()))
    expect(await getUsed(quota)).toBe(grantedBy(grants))
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
        const quota = newQuota(perDay, perMonth)
        const locals = [open({ idleMs: 60_000 }), open({ idleMs: 60_000 })]
        const grants: { local: TestQuota; grant: QuotaGrant; back: number }[] = []
        /** The latest day on which each was used: a clock that steps back reopens none. */
        const days = new Map<TestQuota, string>()
        const latestDay = (local: TestQuota): string => {
          const [day = ''] = [days.get(local) ?? '', new Date(clock).toISOString().slice(0, 10)].sort().slice(-1)
          days.set(local, day)
          return day
        }
        let pending: Promise<void>[] = []
        const finishPending = async (): Promise<void> => {
          await Promise.all(pending)
          pending = []
        }
        for (const one of steps) {
          if (one.op === 'take') {
            const local = locals[one.by]
            if (local === undefined) continue
            latestDay(local)
            const taken = Promise.resolve(local.take(quota, one.calls))
            pending.push(taken.then((grant) => void grants.push({ local, grant, back: 0 })))
          } else if (one.op === 'back') {
            const found = grants[one.which]
            if (found === undefined) continue
            // A closed quota accepts no returns, and neither does a past day.
            if (!locals.includes(found.local)) continue
            found.local.giveBack(found.grant, one.calls)
            const sameDay = found.grant.day === latestDay(found.local)
            if (sameDay) found.back += Math.min(one.calls, found.grant.granted - found.back)
          } else if (one.op === 'wait') clock += one.ms
          else if (one.op === 'restart') {
            await finishPending()
            await locals[one.by]?.close()
            locals[one.by] = open({ idleMs: 60_000 })
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
        await Promise.all(locals.map((local) => local.close()))
        const last = grants
          .map(({ grant }) => grant.day)
          .sort()
          .at(-1)
        const used = sum(
          grants.filter(({ grant }) => grant.day === last).map(({ grant, back }) => grant.granted - back),
        )
        // All reservations were returned: the row has what was granted.
        if (last !== undefined) expect((await getSums(quota, Date.parse(last))).day).toBe(used)
      }),
      { numRuns: database.name === 'sqlite' ? 150 : 40 },
    )
  })
})
