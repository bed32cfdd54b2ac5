import { describe, expect, test } from 'vitest'
import { toUtcDay } from '../../lib/utcDay.ts'
import type { TakenFromRedis } from './limitScript.ts'
import {
  createRedisQuota,
  returnCharged,
  returnUnits,
  isUsedUp,
  setTaken,
  takeUnreported,
  grantReserved,
  toFloorCharge,
  toTakeOptions,
} from './redisQuota.ts'
import type { RedisQuota } from './redisQuota.ts'
import type { Quota } from './usageLimits.ts'

const today = toUtcDay(20_787) // 2026-11-30
const tomorrow = toUtcDay(20_788)
const toQuota = (perDay: number | null, perMonth: number | null = null): Quota => ({
  id: 'user:usr_1',
  perDay,
  perMonth,
})
const quota = toQuota(100)
const toTaken = (changed: Partial<TakenFromRedis> = {}): TakenFromRedis => ({
  status: 'taken',
  now: 1,
  rated: 1,
  spent: 0,
  granted: 1,
  charged: 1,
  day: today.day,
  dayUsed: 10,
  monthUsed: 20,
  reserved: 0,
  seededAt: 500,
  ...changed,
})
const set = (
  state: RedisQuota,
  changed: Partial<TakenFromRedis> = {},
  { connection = 1, isReserving = false, now = 1_000, of = quota } = {},
): void => setTaken(state, of, toTaken(changed), { connection, isReserving, now })
/** A state with reserved for today. */
const createKnown = (reserved = 5): RedisQuota => {
  const state = createRedisQuota(today)
  set(state, { reserved }, { isReserving: true })
  return state
}
const take = (
  state: RedisQuota,
  calls: number,
  { of = quota, day = today, isLost = true, weights = undefined as readonly number[] | undefined } = {},
) => grantReserved(state, of, { calls, weights, today: day, isLost })

test('a new quota knows nothing', () => {
  expect(createRedisQuota(today)).toEqual({
    counter: { day: today, dayUsed: 0, monthUsed: 0 },
    seededAt: 0,
    connection: -1,
    reserved: 0,
    reservedDay: 0,
    unreported: [],
    usedUpUntil: 0,
  })
})

describe('the options for Redis with a request', () => {
  const options = { connection: 1, today: today.day, outageGrant: 20 }

  test('request reserved units once a day', () => {
    const state = createRedisQuota(today)
    expect(toTakeOptions(state, options).outageGrant).toBe(20)
    set(state, {}, { isReserving: true })
    expect(toTakeOptions(state, options).outageGrant).toBe(0)
    expect(toTakeOptions(state, { ...options, today: tomorrow.day }).outageGrant).toBe(20)
  })

  test('has what this instance has seen only on another connection', () => {
    const state = createRedisQuota(today)
    expect(toTakeOptions(state, options).floor).toBeUndefined()
    set(state)
    expect(toTakeOptions(state, options).floor).toBeUndefined()
    const floor = { day: today.day, dayUsed: 10, monthUsed: 20 }
    expect(toTakeOptions(state, { ...options, connection: 2 }).floor).toEqual(floor)
  })

  test('has no units that Redis does not know', () => {
    const state = createKnown()
    take(state, 3)
    expect(state.counter).toMatchObject({ dayUsed: 13, monthUsed: 23 })
    const floor = { day: today.day, dayUsed: 10, monthUsed: 20 }
    expect(toTakeOptions(state, { ...options, connection: 2 }).floor).toEqual(floor)
    expect(toFloorCharge(state)).toEqual({
      units: 0,
      day: today.day,
      seededAt: 500,
      writtenAt: Number.MAX_SAFE_INTEGER,
      floor,
    })
  })

  test('an instance that has seen nothing has no floor', () => {
    expect(toFloorCharge(createRedisQuota(today))).toBeUndefined()
  })
})

describe('what Redis decided', () => {
  test('replaces what was known, except for units that Redis does not know', () => {
    const state = createKnown()
    take(state, 3)
    set(state, { dayUsed: 8, monthUsed: 18, seededAt: 700 }, { connection: 4 })
    expect(state).toMatchObject({ seededAt: 700, connection: 4, reserved: 2 })
    expect(state.counter).toEqual({ day: today, dayUsed: 11, monthUsed: 21 })
  })

  test('starts a later day without reserved units', () => {
    const state = createKnown()
    take(state, 3)
    // 2026-12-01: neither window has the units of yesterday.
    set(state, { day: tomorrow.day, dayUsed: 1, monthUsed: 1 })
    expect(state.counter).toEqual({ day: tomorrow, dayUsed: 1, monthUsed: 1 })
    expect(state).toMatchObject({ reserved: 0, reservedDay: 0 })
  })

  test('adds reserved units only if the request was for them', () => {
    const state = createKnown(5)
    set(state, { reserved: 7 })
    expect(state).toMatchObject({ reserved: 5, reservedDay: today.day })
    set(state, { reserved: 2 }, { isReserving: true })
    expect(state.reserved).toBe(7)
  })

  test('makes a used-up quota rejected for a second', () => {
    const state = createRedisQuota(today)
    set(state, { dayUsed: 99 })
    expect(state.usedUpUntil).toBe(0)
    expect(isUsedUp(state, quota, today.day, 0)).toBe(false)
    set(state, { dayUsed: 100 })
    expect(isUsedUp(state, quota, today.day, 1_000)).toBe(true)
    expect(isUsedUp(state, quota, today.day, 1_999)).toBe(true)
    expect(isUsedUp(state, quota, today.day, 2_000)).toBe(false)
    // A raised limit and a new day apply at once.
    expect(isUsedUp(state, toQuota(101), today.day, 1_000)).toBe(false)
    expect(isUsedUp(state, quota, tomorrow.day, 1_000)).toBe(false)
    expect(isUsedUp(state, quota, today.day - 1, 1_000)).toBe(true)
  })
})

describe('without Redis', () => {
  test('reserved units are granted, and unreported to Redis', () => {
    const state = createKnown(5)
    expect(take(state, 3)).toEqual({ granted: 3, charged: 3 })
    expect(take(state, 3)).toBe('wait')
    expect(take(state, 2)).toEqual({ granted: 2, charged: 2 })
    expect(state.reserved).toBe(0)
    expect(state.counter).toMatchObject({ dayUsed: 15, monthUsed: 25 })
    expect(state.unreported).toEqual([{ day: today, units: 5 }])
  })

  test('weights are charged', () => {
    const state = createKnown(5)
    expect(take(state, 2, { weights: [2, 4] })).toBe('wait')
    expect(take(state, 2, { weights: [2, 3] })).toEqual({ granted: 2, charged: 5 })
  })

  test('reserved units are not spendable while Redis is only slow', () => {
    expect(take(createKnown(), 1, { isLost: false })).toBe('wait')
  })

  test('reserved units of yesterday are not spendable', () => {
    expect(take(createKnown(), 1, { day: tomorrow })).toBe('wait')
  })

  test('the calls that fit are granted, and a used-up quota stays rejected, lost or not', () => {
    const state = createKnown(5)
    set(state, { dayUsed: 98 })
    expect(take(state, 3)).toEqual({ granted: 2, charged: 2 })
    expect(take(state, 3)).toEqual({ granted: 0, charged: 0 })
    expect(take(state, 3, { isLost: false })).toEqual({ granted: 0, charged: 0 })
    expect(state.unreported).toEqual([{ day: today, units: 2 }])
  })

  test('a quota that Redis has not decided on may have more left', () => {
    expect(take(createRedisQuota(today), 1, { of: toQuota(0) })).toBe('wait')
  })

  test('a quota without a limit is granted everything', () => {
    const state = createRedisQuota(today)
    expect(take(state, 2, { of: toQuota(null), weights: [2, 5], isLost: false })).toEqual({ granted: 2, charged: 7 })
    expect(state.counter).toEqual({ day: today, dayUsed: 7, monthUsed: 7 })
    expect(take(createKnown(0), 1, { of: toQuota(null, 100) })).toBe('wait')
    expect(take(createKnown(0), 1, { of: toQuota(100) })).toBe('wait')
  })

  test('a request of no units is unreported nothing', () => {
    const state = createKnown()
    expect(take(state, 0)).toEqual({ granted: 0, charged: 0 })
    expect(state.unreported).toEqual([])
  })
})

describe('unreported units', () => {
  test('are reported once, by day', () => {
    const state = createKnown(5)
    take(state, 3)
    const floor = { day: today.day, dayUsed: 10, monthUsed: 20 }
    expect(takeUnreported(state)).toEqual([{ units: 3, day: today.day, seededAt: 500, floor }])
    expect(takeUnreported(state)).toEqual([])
  })

  test('of past months are dropped when units of a later month are added', () => {
    const state = createRedisQuota(today)
    const unlimited = toQuota(null)
    take(state, 3, { of: unlimited })
    take(state, 4, { of: unlimited, day: tomorrow })
    expect(state.unreported).toEqual([{ day: tomorrow, units: 4 }])
  })

  test('of earlier days of the month are kept', () => {
    const [before, unlimited] = [toUtcDay(today.day - 1), toQuota(null)]
    const state = createRedisQuota(before)
    take(state, 3, { of: unlimited, day: before })
    take(state, 4, { of: unlimited })
    take(state, 1, { of: unlimited })
    expect(state.unreported).toEqual([
      { day: before, units: 3 },
      { day: today, units: 5 },
    ])
    set(state, { dayUsed: 10, monthUsed: 20 }, { of: unlimited })
    expect(state.counter).toMatchObject({ dayUsed: 15, monthUsed: 28 })
    expect(toTakeOptions(state, { connection: 2, today: today.day, outageGrant: 0 }).floor).toEqual({
      day: today.day,
      dayUsed: 10,
      monthUsed: 20,
    })
    expect(takeUnreported(state).map(({ day, units }) => [day, units])).toEqual([
      [before.day, 3],
      [today.day, 5],
    ])
  })
})

describe('returned units', () => {
  test('that Redis knows are returned to Redis', () => {
    const state = createKnown(5)
    expect(returnUnits(state, quota, 4, today)).toBe(4)
    expect(state).toMatchObject({ reserved: 5, unreported: [], counter: { dayUsed: 6, monthUsed: 16 } })
  })

  test('that Redis does not know become reserved units again', () => {
    const state = createKnown(5)
    take(state, 3)
    expect(returnUnits(state, quota, 2, today)).toBe(0)
    expect(state).toMatchObject({ reserved: 4, counter: { dayUsed: 11, monthUsed: 21 } })
    expect(state.unreported).toEqual([{ day: today, units: 1 }])
    expect(returnUnits(state, quota, 3, today)).toBe(2)
    expect(state).toMatchObject({ reserved: 5, unreported: [], counter: { dayUsed: 8, monthUsed: 18 } })
  })

  test('of a quota without a limit become no reserved units', () => {
    const state = createKnown(5)
    take(state, 3, { of: toQuota(null) })
    returnUnits(state, toQuota(null), 3, today)
    // It had spent none.
    expect(state).toMatchObject({ reserved: 5, unreported: [] })
  })

  test('become no reserved units of another day', () => {
    const state = createKnown(5)
    take(state, 3)
    state.reservedDay = 0
    returnUnits(state, quota, 3, today)
    expect(state.reserved).toBe(2)
  })

  test('are taken from the counter only as far as they are in it', () => {
    const state = createRedisQuota(today)
    take(state, 3, { of: toQuota(null) })
    expect(returnUnits(state, toQuota(null), 5, today)).toBe(2)
    expect(state.counter).toMatchObject({ dayUsed: 0, monthUsed: 0 })
  })

  test('do not change a later day of the counter', () => {
    const state = createKnown()
    set(state, { day: tomorrow.day, dayUsed: 9, monthUsed: 9 })
    expect(returnUnits(state, quota, 4, today)).toBe(4)
    expect(state.counter).toEqual({ day: tomorrow, dayUsed: 9, monthUsed: 9 })
  })

  test('start the day', () => {
    const state = createKnown()
    returnUnits(state, quota, 0, tomorrow)
    expect(state.counter).toEqual({ day: tomorrow, dayUsed: 0, monthUsed: 0 })
  })
})

test('units that Redis charged to a request that waits no longer leave what is unreported', () => {
  const state = createKnown()
  grantReserved(state, quota, { calls: 3, today, isLost: true })
  set(state, { dayUsed: 14, monthUsed: 24 })
  expect(state.counter).toMatchObject({ dayUsed: 17, monthUsed: 27 })
  returnCharged(state, 4)
  expect(state).toMatchObject({ counter: { dayUsed: 13, monthUsed: 23 }, unreported: [{ units: 3 }], reserved: 2 })
})
