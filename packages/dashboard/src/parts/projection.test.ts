import { expect, test } from 'vitest'
import { getExhaustion } from './projection.ts'
import type { Period } from './projection.ts'

interface Case {
  readonly period: Period
  readonly used: number
  readonly limit: number | null
  readonly now: string
  readonly resetAt: string
}

const project = ({ period, used, limit, now, resetAt }: Case): string | undefined =>
  getExhaustion({ used, limit, remaining: null, resetAt }, period, Date.parse(now))

const day: Case = {
  period: 'day',
  used: 500,
  limit: 1_000,
  now: '2026-11-23T06:00:00Z',
  resetAt: '2026-11-24T00:00:00Z',
}
// A fifth used in 5 days.
const month: Case = {
  period: 'month',
  used: 200,
  limit: 1_000,
  now: '2026-11-06T00:00:00Z',
  resetAt: '2026-12-01T00:00:00Z',
}

test.each([
  [day, '2026-11-23T12:00:00.000Z'],
  [month, '2026-11-26T00:00:00.000Z'],
  [{ ...month, now: '2028-01-06T00:00:00Z', resetAt: '2028-02-01T00:00:00Z' }, '2028-01-26T00:00:00.000Z'],
])('a limit is used up at the average pace: %o', (given, at) => {
  expect(project(given)).toBe(at)
})

test.each([
  ['lasts until it resets', { now: '2026-11-23T12:00:00Z' }],
  ['is unused', { used: 0 }],
  ['is used up', { used: 1_000 }],
  ['does not exist', { limit: null }],
  ['was reset less than an hour ago', { used: 900, now: '2026-11-23T00:59:00Z' }],
] satisfies readonly (readonly [string, Partial<Case>])[])('a limit that %s has no projection', (_, change) => {
  expect(project({ ...day, ...change })).toBeUndefined()
})
