import { describe, expect, test } from 'vitest'
import { toUtcDay } from '../../lib/utcDay.ts'
import type { TakenFromRedis } from './limitScript.ts'
import {
  createRedisAccount,
  giveBackUnits,
  isUsedUp,
  setTaken,
  takeOwed,
  takePermits,
  toFloorCharge,
  toTakeOptions,
} from './redisAccount.ts'
import type { RedisAccount } from './redisAccount.ts'
import type { QuotaAccount } from './usageLimits.ts'

const today = toUtcDay(20_787) // 2026-11-30
const tomorrow = toUtcDay(20_788)
const toAccount = (perDay: number | null, perMonth: number | null = null): QuotaAccount => ({
  id: 'user:usr_1',
  perDay,
  perMonth,
})
const account = toAccount(100)
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
  permits: 0,
  seededAt: 500,
  ...changed,
})
const set = (
  state: RedisAccount,
  changed: Partial<TakenFromRedis> = {},
  { connection = 1, requestsPermits = false, now = 1_000, of = account } = {},
): void => setTaken(state, of, toTaken(changed), { connection, requestsPermits, now })
/** A state with permits for today. */
const createKnown = (permits = 5): RedisAccount => {
  const state = createRedisAccount(today)
  set(state, { permits }, { requestsPermits: true })
  return state
}
const take = (
  state: RedisAccount,
  calls: number,
  { of = account, day = today, isLost = true, weights = undefined as readonly number[] | undefined } = {},
) => takePermits(state, of, { calls, weights, today: day, isLost })

test('a new account knows nothing', () => {
  expect(createRedisAccount(today)).toEqual({
    counter: { day: today, dayUsed: 0, monthUsed: 0 },
    seededAt: 0,
    connection: -1,
    permits: 0,
    permitDay: 0,
    owed: [],
    usedUpUntil: 0,
  })
})

describe('the options for Redis with a request', () => {
  const options = { connection: 1, today: today.day, outageGrant: 20 }

  test('request permits once a day', () => {
    const state = createRedisAccount(today)
    expect(toTakeOptions(state, options).outageGrant).toBe(20)
    set(state, {}, { requestsPermits: true })
    expect(toTakeOptions(state, options).outageGrant).toBe(0)
    expect(toTakeOptions(state, { ...options, today: tomorrow.day }).outageGrant).toBe(20)
  })

  test('has what this instance has seen only on another connection', () => {
    const state = createRedisAccount(today)
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
    expect(toFloorCharge(createRedisAccount(today))).toBeUndefined()
  })
})

describe('what Redis decided', () => {
  test('replaces what was known, except for units that Redis does not know', () => {
    const state = createKnown()
    take(state, 3)
    set(state, { dayUsed: 8, monthUsed: 18, seededAt: 700 }, { connection: 4 })
    expect(state).toMatchObject({ seededAt: 700, connection: 4, permits: 2 })
    expect(state.counter).toEqual({ day: today, dayUsed: 11, monthUsed: 21 })
  })

  test('starts a later day without permits', () => {
    const state = createKnown()
    take(state, 3)
    // 2026-12-01: neither window has the units of yesterday.
    set(state, { day: tomorrow.day, dayUsed: 1, monthUsed: 1 })
    expect(state.counter).toEqual({ day: tomorrow, dayUsed: 1, monthUsed: 1 })
    expect(state).toMatchObject({ permits: 0, permitDay: 0 })
  })

  test('adds permits only if the request was for them', () => {
    const state = createKnown(5)
    set(state, { permits: 7 })
    expect(state).toMatchObject({ permits: 5, permitDay: today.day })
    set(state, { permits: 2 }, { requestsPermits: true })
    expect(state.permits).toBe(7)
  })

  test('makes a used-up account rejected for a second', () => {
    const state = createRedisAccount(today)
    set(state, { dayUsed: 99 })
    expect(state.usedUpUntil).toBe(0)
    expect(isUsedUp(state, account, today.day, 0)).toBe(false)
    set(state, { dayUsed: 100 })
    expect(isUsedUp(state, account, today.day, 1_000)).toBe(true)
    expect(isUsedUp(state, account, today.day, 1_999)).toBe(true)
    expect(isUsedUp(state, account, today.day, 2_000)).toBe(false)
    // A raised limit and a new day apply at once.
    expect(isUsedUp(state, toAccount(101), today.day, 1_000)).toBe(false)
    expect(isUsedUp(state, account, tomorrow.day, 1_000)).toBe(false)
    expect(isUsedUp(state, account, today.day - 1, 1_000)).toBe(true)
  })
})

describe('without Redis', () => {
  test('permits are granted, and owed to Redis', () => {
    const state = createKnown(5)
    expect(take(state, 3)).toEqual({ granted: 3, charged: 3 })
    expect(take(state, 3)).toBe('unknown')
    expect(take(state, 2)).toEqual({ granted: 2, charged: 2 })
    expect(state.permits).toBe(0)
    expect(state.counter).toMatchObject({ dayUsed: 15, monthUsed: 25 })
    expect(state.owed).toEqual([{ day: today, units: 5 }])
  })

  test('weights are charged', () => {
    const state = createKnown(5)
    expect(take(state, 2, { weights: [2, 4] })).toBe('unknown')
    expect(take(state, 2, { weights: [2, 3] })).toEqual({ granted: 2, charged: 5 })
  })

  test('permits are not spendable while Redis is only slow', () => {
    expect(take(createKnown(), 1, { isLost: false })).toBe('unknown')
  })

  test('permits of yesterday are not spendable', () => {
    expect(take(createKnown(), 1, { day: tomorrow })).toBe('unknown')
  })

  test('the calls that fit are granted, and a used-up account stays rejected, lost or not', () => {
    const state = createKnown(5)
    set(state, { dayUsed: 98 })
    expect(take(state, 3)).toEqual({ granted: 2, charged: 2 })
    expect(take(state, 3)).toEqual({ granted: 0, charged: 0 })
    expect(take(state, 3, { isLost: false })).toEqual({ granted: 0, charged: 0 })
    expect(state.owed).toEqual([{ day: today, units: 2 }])
  })

  test('an account that Redis has not decided on may have more left', () => {
    expect(take(createRedisAccount(today), 1, { of: toAccount(0) })).toBe('unknown')
  })

  test('an account without a limit is granted everything', () => {
    const state = createRedisAccount(today)
    expect(take(state, 2, { of: toAccount(null), weights: [2, 5], isLost: false })).toEqual({ granted: 2, charged: 7 })
    expect(state.counter).toEqual({ day: today, dayUsed: 7, monthUsed: 7 })
    expect(take(createKnown(0), 1, { of: toAccount(null, 100) })).toBe('unknown')
    expect(take(createKnown(0), 1, { of: toAccount(100) })).toBe('unknown')
  })

  test('a request of no units is owed nothing', () => {
    const state = createKnown()
    expect(take(state, 0)).toEqual({ granted: 0, charged: 0 })
    expect(state.owed).toEqual([])
  })
})

describe('owed units', () => {
  test('are reported once, by day', () => {
    const state = createKnown(5)
    take(state, 3)
    const floor = { day: today.day, dayUsed: 10, monthUsed: 20 }
    expect(takeOwed(state)).toEqual([{ units: 3, day: today.day, seededAt: 500, floor }])
    expect(takeOwed(state)).toEqual([])
  })

  test('of past months are dropped when units of a later month are added', () => {
    const state = createRedisAccount(today)
    const unlimited = toAccount(null)
    take(state, 3, { of: unlimited })
    take(state, 4, { of: unlimited, day: tomorrow })
    expect(state.owed).toEqual([{ day: tomorrow, units: 4 }])
  })

  test('of earlier days of the month are kept', () => {
    const [before, unlimited] = [toUtcDay(today.day - 1), toAccount(null)]
    const state = createRedisAccount(before)
    take(state, 3, { of: unlimited, day: before })
    take(state, 4, { of: unlimited })
    take(state, 1, { of: unlimited })
    expect(state.owed).toEqual([
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
    expect(takeOwed(state).map(({ day, units }) => [day, units])).toEqual([
      [before.day, 3],
      [today.day, 5],
    ])
  })
})

describe('returned units', () => {
  test('that Redis knows are returned to Redis', () => {
    const state = createKnown(5)
    expect(giveBackUnits(state, account, 4, today)).toBe(4)
    expect(state).toMatchObject({ permits: 5, owed: [], counter: { dayUsed: 6, monthUsed: 16 } })
  })

  test('that Redis does not know become permits again', () => {
    const state = createKnown(5)
    take(state, 3)
    expect(giveBackUnits(state, account, 2, today)).toBe(0)
    expect(state).toMatchObject({ permits: 4, counter: { dayUsed: 11, monthUsed: 21 } })
    expect(state.owed).toEqual([{ day: today, units: 1 }])
    expect(giveBackUnits(state, account, 3, today)).toBe(2)
    expect(state).toMatchObject({ permits: 5, owed: [], counter: { dayUsed: 8, monthUsed: 18 } })
  })

  test('of an account without a limit become no permits', () => {
    const state = createKnown(5)
    take(state, 3, { of: toAccount(null) })
    giveBackUnits(state, toAccount(null), 3, today)
    // It had spent none.
    expect(state).toMatchObject({ permits: 5, owed: [] })
  })

  test('become no permits of another day', () => {
    const state = createKnown(5)
    take(state, 3)
    state.permitDay = 0
    giveBackUnits(state, account, 3, today)
    expect(state.permits).toBe(2)
  })

  test('are taken from the counter only as far as they are in it', () => {
    const state = createRedisAccount(today)
    take(state, 3, { of: toAccount(null) })
    expect(giveBackUnits(state, toAccount(null), 5, today)).toBe(2)
    expect(state.counter).toMatchObject({ dayUsed: 0, monthUsed: 0 })
  })

  test('do not change a later day of the counter', () => {
    const state = createKnown()
    set(state, { day: tomorrow.day, dayUsed: 9, monthUsed: 9 })
    expect(giveBackUnits(state, account, 4, today)).toBe(4)
    expect(state.counter).toEqual({ day: tomorrow, dayUsed: 9, monthUsed: 9 })
  })

  test('start the day', () => {
    const state = createKnown()
    giveBackUnits(state, account, 0, tomorrow)
    expect(state.counter).toEqual({ day: tomorrow, dayUsed: 0, monthUsed: 0 })
  })
})
