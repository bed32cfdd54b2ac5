import { describe, expect, test } from 'vitest'
import { toUtcDay } from '../../lib/utcDay.ts'
import {
  createReservation,
  getTarget,
  returnReserved,
  isRunningLow,
  abandonRow,
  setReserved,
  startDay,
  startWrite,
  grantReserved,
} from './reservation.ts'
import type { Reservation } from './reservation.ts'
import { isLimited } from './quotaCounter.ts'
import type { Quota } from './usageLimits.ts'

const today = toUtcDay(20_778) // 2026-11-21
const tomorrow = toUtcDay(20_779)
const toQuota = (perDay: number | null, perMonth: number | null = null): Quota => ({
  id: 'user:usr_1',
  perDay,
  perMonth,
})
const quota = toQuota(100)

/** A state whose row was written at 1,000 ms. */
const createKnown = (reserved: number, otherDay = 0, otherMonth = otherDay): Reservation => {
  const state = createReservation(today)
  setReserved(state, today, { charged: reserved, otherDay, otherMonth }, 1_000)
  return state
}
const take = (
  state: Reservation,
  calls: number,
  { now = 1_000, outageGrant, of = quota }: { now?: number; outageGrant?: number; of?: Quota } = {},
) => grantReserved(state, of, { calls, now, ...(outageGrant === undefined ? {} : { outageGrant }) })

describe('a reservation', () => {
  test('starts with what its row says', () => {
    expect(createReservation(today, 7)).toEqual({
      counter: { day: today, dayUsed: 7, monthUsed: 7 },
      used: 7,
      reserved: 7,
      inAdvance: 25,
      isKnown: false,
      readAt: -Infinity,
      isWriting: false,
    })
    expect(createReservation(today)).toMatchObject({ used: 0, reserved: 0, counter: { dayUsed: 0, monthUsed: 0 } })
  })

  test('grants what is reserved, and lets other requests wait', () => {
    const state = createKnown(10, 20, 30)
    expect(take(state, 4)).toEqual({ granted: 4, charged: 4 })
    expect(take(state, 7)).toBe('wait')
    expect(take(state, 6)).toEqual({ granted: 6, charged: 6 })
    expect(state).toMatchObject({ used: 10, reserved: 10, counter: { dayUsed: 30, monthUsed: 40 } })
  })

  test('charges weights', () => {
    const state = createKnown(10)
    expect(grantReserved(state, quota, { calls: 2, weights: [3, 4], now: 1_000 })).toEqual({ granted: 2, charged: 7 })
    expect(state.used).toBe(7)
    // Of 5 units left, the first call takes 3.
    const low = createKnown(10, 95)
    expect(grantReserved(low, quota, { calls: 3, weights: [3, 3, 1], now: 1_000 })).toEqual({
      granted: 1,
      charged: 3,
    })
  })

  test('grants the first calls that fit only if what others use was read within a second', () => {
    const state = createKnown(10, 96)
    expect(take(state, 6, { now: 2_000 })).toBe('wait')
    expect(take(state, 6, { now: 1_999 })).toEqual({ granted: 4, charged: 4 })
    expect(take(state, 1, { now: 1_999 })).toEqual({ granted: 0, charged: 0 })
    expect(take(state, 1, { now: 2_000 })).toBe('wait')
  })

  test('lets a request wait if even the calls that fit are not reserved', () => {
    expect(take(createKnown(3, 96), 6)).toBe('wait')
    expect(take(createKnown(4, 96), 6)).toEqual({ granted: 4, charged: 4 })
  })

  test('grants all calls that fit exactly, however old the row is', () => {
    expect(take(createKnown(10, 96), 4, { now: 99_000 })).toEqual({ granted: 4, charged: 4 })
  })

  test('enforces the month', () => {
    const limited = toQuota(100, 200)
    expect(take(createKnown(50, 0, 195), 6, { of: limited })).toEqual({ granted: 5, charged: 5 })
    expect(take(createKnown(50, 0, 195), 6, { of: toQuota(null, 200) })).toEqual({ granted: 5, charged: 5 })
  })

  test('grants everything without a limit', () => {
    const state = createReservation(today)
    expect(take(state, 5_000, { of: toQuota(null) })).toEqual({ granted: 5_000, charged: 5_000 })
    expect(state).toMatchObject({ used: 5_000, reserved: 0 })
    expect([isLimited(toQuota(null)), isLimited(toQuota(1)), isLimited(toQuota(null, 1))]).toEqual([false, true, true])
  })

  test('while the database is lost, grants outageGrant units beyond those reserved, within the limit', () => {
    const state = createKnown(10, 50)
    expect(take(state, 16, { outageGrant: 5 })).toBe('wait')
    expect(take(state, 15, { outageGrant: 5 })).toEqual({ granted: 15, charged: 15 })
    expect(take(state, 1, { outageGrant: 5 })).toBe('wait')
    expect(take(state, 40, { outageGrant: 500, now: 99_000 })).toEqual({ granted: 35, charged: 35 })
    expect(take(state, 1, { outageGrant: 500, now: 99_000 })).toEqual({ granted: 0, charged: 0 })
  })

  test('while the database is lost, a quota that is not known waits if it seems used up', () => {
    const state = createReservation(today)
    expect(take(state, 101, { outageGrant: 500 })).toBe('wait')
    expect(take(state, 100, { outageGrant: 500 })).toEqual({ granted: 100, charged: 100 })
    expect(take(state, 1, { outageGrant: 500 })).toBe('wait')
    expect(take(createKnown(10, 96), 6, { now: 2_000, outageGrant: 0 })).toBe('wait')
  })

  test('reserves more in advance each time a request waits, up to a hundredth of the lower limit', () => {
    const toLeads = (of: Quota): number[] => {
      const state = createKnown(0)
      return Array.from({ length: 4 }, () => {
        expect(take(state, 1, { of })).toBe('wait')
        return state.inAdvance
      })
    }
    expect(toLeads(toQuota(15_000))).toEqual([50, 100, 150, 150])
    expect(toLeads(toQuota(15_000, 4_099))).toEqual([40, 40, 40, 40])
    expect(toLeads(toQuota(null, 7_000))).toEqual([50, 70, 70, 70])
    expect(toLeads(toQuota(2_500))).toEqual([25, 25, 25, 25])
  })

  test('the first request of a day reserves no more in advance than others', () => {
    const state = createReservation(today)
    expect(take(state, 1, { of: toQuota(15_000) })).toBe('wait')
    expect(state.inAdvance).toBe(25)
  })

  test('runs low if less than half of the advance is left, unless the limit is reached', () => {
    const state = createKnown(25)
    expect(isRunningLow(state, quota)).toBe(false)
    take(state, 12)
    expect(isRunningLow(state, quota)).toBe(false)
    take(state, 1)
    expect(isRunningLow(state, quota)).toBe(true)
    expect(isRunningLow(state, toQuota(14))).toBe(true)
    expect(isRunningLow(state, toQuota(13))).toBe(false)
    expect(isRunningLow(state, toQuota(null))).toBe(false)
    const half = createKnown(10)
    half.inAdvance = 20
    expect(isRunningLow(half, quota)).toBe(false)
    take(half, 1)
    expect(isRunningLow(half, quota)).toBe(true)
  })

  test('the target has the advance and what requests wait for', () => {
    const state = createKnown(10)
    take(state, 4)
    expect(getTarget(state, quota, 3)).toBe(4 + 3 + 25)
    expect(getTarget(state, toQuota(null), 0)).toBe(4)
  })

  test('units that a write gives up cannot be granted while it is in flight', () => {
    const state = createKnown(50)
    take(state, 30)
    expect(startWrite(state, 30)).toBe(30)
    expect(state.isWriting).toBe(true)
    expect(take(state, 1)).toBe('wait')
    setReserved(state, today, { charged: 30, otherDay: 0, otherMonth: 0 }, 2_000)
    expect(state).toMatchObject({ used: 30, reserved: 30, isWriting: false, readAt: 2_000 })
  })

  test('units that are reserved can be granted while the row is raised, even if the limit was lowered', () => {
    const state = createKnown(50)
    take(state, 30)
    expect(startWrite(state, 55)).toBe(50)
    expect(take(state, 20)).toEqual({ granted: 20, charged: 20 })
  })

  test('a row must say what was used without it', () => {
    const state = createKnown(10)
    take(state, 15, { outageGrant: 5 })
    expect(startWrite(state, 40)).toBe(15)
    expect(state.reserved).toBe(10)
  })

  test('a row that is left counts as what others use, except for units that it does not have', () => {
    const state = createKnown(10, 20)
    state.inAdvance = 100
    take(state, 15, { outageGrant: 5 })
    startWrite(state, 40)
    abandonRow(state)
    expect(state).toMatchObject({
      used: 5,
      reserved: 0,
      inAdvance: 25,
      readAt: -Infinity,
      isWriting: false,
      isKnown: true,
    })
    // The old row has 10 units.
    setReserved(state, today, { charged: 30, otherDay: 30, otherMonth: 40 }, 2_000)
    expect(state.counter).toMatchObject({ dayUsed: 35, monthUsed: 45 })
    const unused = createKnown(10)
    take(unused, 3)
    abandonRow(unused)
    expect(unused.used).toBe(0)
  })

  test('returned units can be granted again', () => {
    const state = createKnown(10, 20, 30)
    take(state, 10)
    returnReserved(state, 4)
    expect(state).toMatchObject({ used: 6, reserved: 10, counter: { dayUsed: 26, monthUsed: 36 } })
    expect(take(state, 4)).toEqual({ granted: 4, charged: 4 })
  })

  test('a later day starts with nothing reserved, and returns what the ended day used', () => {
    const state = createKnown(10, 20, 30)
    take(state, 4)
    expect(startDay(state, today)).toBeUndefined()
    expect(startDay(state, toUtcDay(today.day - 1))).toBeUndefined()
    expect(state).toMatchObject({ used: 4, reserved: 10, isKnown: true })
    expect(startDay(state, tomorrow)).toEqual({ day: today, used: 4, reserved: 10 })
    expect(state).toMatchObject({
      counter: { day: tomorrow, dayUsed: 0, monthUsed: 34 },
      used: 0,
      reserved: 0,
      isKnown: false,
      readAt: -Infinity,
    })
  })

  test('an ended day is written again only if its row says something else, or may soon', () => {
    const written = createKnown(4)
    take(written, 4)
    expect(startDay(written, tomorrow)).toBeUndefined()
    const writing = createKnown(4)
    take(writing, 4)
    startWrite(writing, 29)
    expect(startDay(writing, tomorrow)).toEqual({ day: today, used: 4, reserved: 4 })
    setReserved(writing, today, { charged: 29, otherDay: 7, otherMonth: 7 }, 2_000)
    expect(writing).toMatchObject({ used: 0, reserved: 0, isKnown: false, readAt: -Infinity, isWriting: false })
    expect(writing.counter).toEqual({ day: tomorrow, dayUsed: 0, monthUsed: 4 })
  })
})
