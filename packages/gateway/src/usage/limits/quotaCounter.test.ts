import { describe, expect, test } from 'vitest'
import { toUtcDay } from '../../lib/utcDay.ts'
import {
  advance,
  countFitting,
  createCounter,
  getCost,
  getLeft,
  getMonthStart,
  toQuotaGrant,
  toQuotaUsage,
} from './quotaCounter.ts'
import type { Quota } from './usageLimits.ts'

const today = 20_778 // 2026-11-21
const toQuota = (perDay: number | null, perMonth: number | null): Quota => ({
  id: 'user:usr_1',
  perDay,
  perMonth,
})

test('a later day starts at 0, and so does a later month', () => {
  const counter = createCounter(today, 5, 7)
  expect(counter).toEqual({ day: toUtcDay(today), dayUsed: 5, monthUsed: 7 })
  advance(counter, toUtcDay(today))
  advance(counter, toUtcDay(today - 1))
  expect(counter).toEqual(createCounter(today, 5, 7))
  advance(counter, toUtcDay(today + 1))
  expect(counter).toEqual(createCounter(today + 1, 0, 7))
  counter.dayUsed = 2
  // 2026-12-01
  advance(counter, toUtcDay(today + 10))
  expect(counter).toEqual(createCounter(today + 10, 0, 0))
})

test('what is left is the lower of both windows, negative if a limit was lowered', () => {
  const counter = createCounter(today, 30, 40)
  expect(getLeft(counter, toQuota(100, 200))).toBe(70)
  expect(getLeft(counter, toQuota(100, 50))).toBe(10)
  expect(getLeft(counter, toQuota(null, 50))).toBe(10)
  expect(getLeft(counter, toQuota(100, null))).toBe(70)
  expect(getLeft(counter, toQuota(20, 50))).toBe(-10)
  expect(getLeft(counter, toQuota(null, null))).toBe(Infinity)
})

describe('weights', () => {
  test('a call costs 1 unless it has a weight', () => {
    expect(getCost(3, undefined)).toBe(3)
    expect(getCost(3, [2, 5, 7])).toBe(14)
    expect(getCost(2, [2, 5, 7])).toBe(7)
    expect(getCost(3, [2])).toBe(4)
    expect(getCost(0, [2])).toBe(0)
  })

  test('the first calls fit, never a later one in place of an earlier one', () => {
    expect(countFitting(3, undefined, 2)).toBe(2)
    expect(countFitting(3, undefined, 5)).toBe(3)
    expect(countFitting(3, undefined, -1)).toBe(0)
    expect(countFitting(3, [2, 5, 1], 8)).toBe(3)
    expect(countFitting(3, [2, 5, 1], 7)).toBe(2)
    expect(countFitting(3, [2, 5, 1], 3)).toBe(1)
    expect(countFitting(3, [2, 5, 1], 1)).toBe(0)
    expect(countFitting(3, [2, 5, 1], -1)).toBe(0)
    expect(countFitting(3, [2], 3)).toBe(2)
    expect(countFitting(2, [1, 1, 1], 9)).toBe(2)
  })
})

describe('a grant', () => {
  const counter = createCounter(today, 30, 40)
  const { endMs, monthEndMs } = toUtcDay(today)
  const grant = (quota: Quota, granted: number, calls = 2) =>
    toQuotaGrant(counter, quota, { calls, granted, charged: granted })

  test('shows the day', () => {
    const quota = toQuota(100, 45)
    expect(grant(quota, 2)).toStrictEqual({
      granted: 2,
      charged: 2,
      limit: 100,
      remaining: 70,
      resetAtMs: endMs,
      quota,
      day: '2026-11-21',
    })
  })

  test('shows the month if the day has no limit, and no limit if none has', () => {
    expect(grant(toQuota(null, 50), 2)).toMatchObject({ limit: 50, remaining: 10, resetAtMs: monthEndMs })
    expect(grant(toQuota(null, null), 2)).toMatchObject({ limit: null, remaining: null, resetAtMs: endMs })
    expect(grant(toQuota(100, null), 2)).toMatchObject({ limit: 100, remaining: 70, resetAtMs: endMs })
  })

  test('that rejects shows the window with less left, and the month if both have the same', () => {
    const day = { rejectedBy: 'day', limit: 30, remaining: 0, resetAtMs: endMs }
    const month = { rejectedBy: 'month', limit: 40, remaining: 0, resetAtMs: monthEndMs }
    expect(grant(toQuota(30, 50), 1)).toMatchObject(day)
    expect(grant(toQuota(30, null), 1)).toMatchObject(day)
    expect(grant(toQuota(31, 40), 1)).toMatchObject(month)
    expect(grant(toQuota(30, 40), 1)).toMatchObject(month)
    expect(grant(toQuota(null, 40), 0)).toMatchObject(month)
    expect(grant(toQuota(null, null), 0)).toMatchObject({ rejectedBy: 'day' })
  })

  test('shows 0 left if a limit was lowered', () => {
    expect(grant(toQuota(20, null), 0)).toMatchObject({ rejectedBy: 'day', limit: 20, remaining: 0 })
  })
})

test('the usage has both windows', () => {
  const { endMs, monthEndMs } = toUtcDay(today)
  expect(toQuotaUsage(createCounter(today, 3, 4), toQuota(5, null))).toEqual({
    day: { used: 3, limit: 5, resetAtMs: endMs },
    month: { used: 4, limit: null, resetAtMs: monthEndMs },
  })
})

test.each([
  ['2026-11-01', '2026-11-01'],
  ['2026-11-21', '2026-11-01'],
  ['2028-02-29', '2028-02-01'],
])('the month of %s starts on %s', (day, start) => {
  const toDay = (text: string): number => Date.parse(text) / 86_400_000
  expect(getMonthStart(toUtcDay(toDay(day)))).toBe(toDay(start))
})
