import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import {
  defaultRetention,
  levels,
  parseBounds,
  planPartitions,
  planRetention,
  planRollUp,
  toUsageState,
} from './usagePlan.ts'
import type { UsageState } from './usagePlan.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../lib/time.ts'

const day = Date.UTC(2026, 10, 21)
const [hours, days] = levels
const nothing = { minutesFrom: 0, hoursFrom: 0, daysFrom: 0 }
const mark = (at: number, run = 'run_1', version = 1) => ({ at, run, version })

describe('planRollUp', () => {
  test('returns each marked hour once, the oldest first, with all of its marks', () => {
    const marks = [mark(day + hourMs), mark(day, 'run_1', 7), mark(day + hourMs, 'run_2', 9)]
    expect(planRollUp(hours, marks, { stored: nothing, now: day + dayMs })).toEqual([
      { at: day, marks: [mark(day, 'run_1', 7)], isExpired: false },
      { at: day + hourMs, marks: [mark(day + hourMs), mark(day + hourMs, 'run_2', 9)], isExpired: false },
    ])
  })

  test.each([
    ['hour', hours, hourMs],
    ['day', days, dayMs],
  ])('leaves the %s that is not over for a minute to a later round', (_, level, spanMs) => {
    const plan = (now: number) => planRollUp(level, [mark(day)], { stored: nothing, now }).length
    expect(plan(day + spanMs + minuteMs - 1)).toBe(0)
    expect(plan(day + spanMs + minuteMs)).toBe(1)
  })

  test('does not roll up what is past its retention', () => {
    const isExpired = (level: typeof hours, stored: Partial<UsageState>) =>
      planRollUp(level, [mark(day)], { stored: { ...nothing, ...stored }, now: day + 9 * dayMs })[0]?.isExpired
    expect(isExpired(hours, { minutesFrom: day })).toBe(false)
    expect(isExpired(hours, { minutesFrom: day + hourMs })).toBe(true)
    expect(isExpired(days, { minutesFrom: day + hourMs })).toBe(false)
    expect(isExpired(days, { hoursFrom: day + dayMs })).toBe(true)
  })
})

describe('toUsageState', () => {
  test('is rolled up to the oldest mark', () => {
    const to = (oldest: Parameters<typeof toUsageState>[1], stored = nothing) => {
      const { hoursTo, daysTo } = toUsageState(stored, oldest)
      return [hoursTo, daysTo]
    }
    expect(to({ hour: undefined, day: undefined })).toEqual([Infinity, Infinity])
    expect(to({ hour: day + 5 * hourMs, day: undefined })).toEqual([day + 5 * hourMs, day])
    expect(to({ hour: day + 5 * hourMs, day: day - dayMs })).toEqual([day + 5 * hourMs, day - dayMs])
    expect(to({ hour: undefined, day })).toEqual([Infinity, day])
    // Marks of what is past its retention.
    const stored = { minutesFrom: day, hoursFrom: day - dayMs, daysFrom: 0 }
    expect(to({ hour: day - 5 * dayMs, day: day - 3 * dayMs }, stored)).toEqual([day, day - dayMs])
    expect(toUsageState(stored, { hour: undefined, day: undefined })).toMatchObject(stored)
  })
})

describe('planRetention', () => {
  const now = day + 5 * hourMs + 7 * minuteMs
  const all = { ...nothing, hoursTo: Infinity, daysTo: Infinity }
  const retention = { minutesMs: dayMs, hoursMs: 3 * dayMs, daysMs: 10 * dayMs }

  test('keeps the rows of the retention, rounded to whole hours and days', () => {
    expect(planRetention(all, { retention, now })).toEqual({
      minutesFrom: day - dayMs + 5 * hourMs,
      hoursFrom: day - 3 * dayMs,
      daysFrom: day - 10 * dayMs,
    })
    expect(defaultRetention).toEqual({ minutesMs: 8 * dayMs, hoursMs: 90 * dayMs, daysMs: 730 * dayMs })
  })

  test('keeps rows that are not rolled up', () => {
    const late = { ...all, hoursTo: day - 6 * dayMs + hourMs, daysTo: day - 8 * dayMs }
    expect(planRetention(late, { retention, now })).toEqual({
      minutesFrom: day - 6 * dayMs + hourMs,
      hoursFrom: day - 8 * dayMs,
      daysFrom: day - 10 * dayMs,
    })
  })

  test('keeps the hours of a day whose minutes are stored, and the days of stored hours', () => {
    const long = { minutesMs: 8 * dayMs, hoursMs: dayMs, daysMs: hourMs }
    expect(planRetention(all, { retention: long, now })).toEqual({
      minutesFrom: day - 8 * dayMs + 5 * hourMs,
      hoursFrom: day - 8 * dayMs,
      daysFrom: day - 8 * dayMs,
    })
  })

  test('never removes less than before, more than is rolled up, or a coarser table before a finer one', () => {
    const time = fc.integer({ min: 0, max: 40 * 24 * 60 }).map((minutes) => minutes * minuteMs)
    fc.assert(
      fc.property(
        fc.record({ hour: time, day: time, now: time, minutesMs: time, hoursMs: time, daysMs: time }),
        (one) => {
          const oldest = { hour: floorTo(one.hour, hourMs), day: floorTo(one.day, dayMs) }
          const before = toUsageState(nothing, oldest)
          const planned = planRetention(before, { retention: one, now: one.now + 40 * dayMs })
          expect(planned.minutesFrom).toBeLessThanOrEqual(before.hoursTo)
          expect(planned.hoursFrom).toBeLessThanOrEqual(Math.min(before.daysTo, planned.minutesFrom))
          expect(planned.daysFrom).toBeLessThanOrEqual(planned.hoursFrom)
          expect(planned.minutesFrom % hourMs).toBe(0)
          expect([planned.hoursFrom % dayMs, planned.daysFrom % dayMs]).toEqual([0, 0])
          const again = planRetention(toUsageState(planned, oldest), { retention: one, now: one.now })
          for (const from of ['minutesFrom', 'hoursFrom', 'daysFrom'] as const)
            expect(again[from]).toBeGreaterThanOrEqual(planned[from])
        },
      ),
      { numRuns: fuzzCases(300) },
    )
  })
})

describe('planPartitions', () => {
  const createDay = (index: number) => ({
    name: `day_${index}`,
    from: day + index * dayMs,
    to: day + (index + 1) * dayMs,
  })
  const noon = day + 12 * hourMs

  test('creates today and the next three days', () => {
    expect(planPartitions([], { storedFrom: 0, now: noon })).toEqual({
      create: [0, 1, 2, 3].map((index) => day + index * dayMs),
      drop: [],
    })
    expect(planPartitions([0, 1, 3].map(createDay), { storedFrom: 0, now: noon }).create).toEqual([day + 2 * dayMs])
    expect(planPartitions([0, 1, 2, 3].map(createDay), { storedFrom: 0, now: noon + dayMs }).create).toEqual([
      day + 4 * dayMs,
    ])
  })

  test('creates no partition that overlaps another one', () => {
    const before = { name: 'before', from: -Infinity, to: day + dayMs + 1 }
    const after = { name: 'after', from: day + 4 * dayMs - 1, to: day + 9 * dayMs }
    expect(planPartitions([before, after], { storedFrom: 0, now: noon }).create).toEqual([day + 2 * dayMs])
    expect(planPartitions([{ ...before, to: day }], { storedFrom: 0, now: noon }).create).toHaveLength(4)
    expect(planPartitions([{ ...after, from: day + 4 * dayMs }], { storedFrom: 0, now: noon }).create).toHaveLength(4)
  })

  test('drops the partitions whose rows are all past their retention', () => {
    const partitions = [{ name: 'before', from: -Infinity, to: day - dayMs }, createDay(-1), createDay(0)]
    const drop = (storedFrom: number) => planPartitions(partitions, { storedFrom, now: noon }).drop
    expect(drop(day - dayMs)).toEqual(['before'])
    expect(drop(day - 1)).toEqual(['before'])
    expect(drop(day)).toEqual(['before', 'day_-1'])
  })
})

test('parseBounds reads what PostgreSQL prints', () => {
  expect(parseBounds("FOR VALUES FROM ('1763683200000') TO ('1763769600000')")).toEqual({
    from: 1_763_683_200_000,
    to: 1_763_769_600_000,
  })
  expect(parseBounds("FOR VALUES FROM (MINVALUE) TO ('-5')")).toEqual({ from: -Infinity, to: -5 })
  expect(parseBounds("FOR VALUES FROM ('-5') TO ('10')")).toEqual({ from: -5, to: 10 })
  for (const text of [
    'DEFAULT',
    "FOR VALUES IN ('1')",
    "x FOR VALUES FROM ('1') TO ('2')",
    "FOR VALUES FROM ('1') TO ('2') x",
  ])
    expect(parseBounds(text)).toBeUndefined()
})
