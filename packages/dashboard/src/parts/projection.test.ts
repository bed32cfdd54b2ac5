import { expect, test } from 'vitest'
import { getExhaustion } from './projection.ts'
import type { Period } from './projection.ts'

const project = (period: Period, used: number, limit: number | null, now: string, resetAt: string) =>
  getExhaustion({ used, limit, remaining: null, resetAt: `${resetAt}T00:00:00Z` }, period, Date.parse(`${now}:00Z`))

test.each([
  // Half used in 6 hours.
  ['day', 500, 1_000, '2026-11-23T06:00', '2026-11-24', '2026-11-23T12:00:00.000Z'],
  // A fifth used in a sixth of a month of 30 days.
  ['month', 200, 1_000, '2026-11-06T00:00', '2026-12-01', '2026-11-26T00:00:00.000Z'],
  ['month', 200, 1_000, '2028-03-06T00:00', '2028-04-01', '2028-03-26T00:00:00.000Z'],
] as const)(
  'a %s of which %i of %i are used at %s, until %s, is used up at %s',
  (period, used, limit, now, end, at) => {
    expect(project(period, used, limit, now, end)).toBe(at)
  },
)

test.each([
  ['lasts until it resets', 'day', 500, 1_000, '2026-11-23T12:00'],
  ['is unused', 'day', 0, 1_000, '2026-11-23T12:00'],
  ['is used up', 'day', 1_000, 1_000, '2026-11-23T12:00'],
  ['does not exist', 'day', 5, null, '2026-11-23T12:00'],
  ['was reset less than an hour ago', 'day', 900, 1_000, '2026-11-23T00:59'],
] as const)('a limit that %s has no projection', (_, period, used, limit, now) => {
  expect(project(period, used, limit, now, '2026-11-24')).toBeUndefined()
})
