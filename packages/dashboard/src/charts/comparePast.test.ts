import { expect, test } from 'vitest'
import { comparePast } from './comparePast.ts'

const hour = 3_600_000
const start = Date.parse('2026-11-23T00:00:00.000Z')
const iso = (time: number): string => new Date(time).toISOString()

/** Metrics of two hours. */
const metrics = (from: number, total: number, more: Partial<Parameters<typeof comparePast>[0]> = {}) => ({
  from: iso(from),
  to: iso(from + 2 * hour),
  step: 'hour' as const,
  total,
  successRate: total === 0 ? null : 0.9,
  latencyMs: { p50: total === 0 ? null : 10, p90: 20, p95: 20, p99: 20 },
  countedFrom: iso(start - 100 * hour),
  series: [0, 1].map((at) => ({
    at: iso(from + at * hour),
    total,
    succeeded: total,
    reverted: 0,
    p50: 10,
    p95: 20,
    connections: 0,
    notifications: 0,
  })),
  ...more,
})
const compare = (past: ReturnType<typeof metrics>, now = 150) =>
  comparePast(metrics(start, now), past, { isRunning: true })

test('the period before has its steps and the changes of the figures', () => {
  const past = compare(
    metrics(start - 2 * hour, 100, { successRate: 0.95, latencyMs: { p50: 20, p90: 20, p95: 20, p99: 20 } }),
  )
  expect(past.changes).toEqual({
    total: '+50% against before',
    successRate: '-5 points against before',
    p50: '-50% against before',
    p95: '0% against before',
  })
  expect(past.series?.map((one) => one?.total)).toEqual([100, 100])
  expect(past.note).toMatch(/^Compared with .* to .*\. The current hour is not over yet\.$/)
})

test('a period without requests has no percentages', () => {
  expect(compare(metrics(start - 2 * hour, 0)).changes).toEqual({
    total: 'none before',
    successRate: undefined,
    p50: undefined,
    p95: '0% against before',
  })
  expect(compare(metrics(start - 2 * hour, 0), 0).changes?.total).toBe('no change')
})

test('a period that was counted in part only is drawn from there on, and its totals are not compared', () => {
  const past = compare(metrics(start - 2 * hour, 5, { countedFrom: iso(start - hour) }))
  expect(past.series?.map((one) => one?.total)).toEqual([undefined, 5])
  expect(past.changes).toBeUndefined()
  expect(past.note).toMatch(/^The totals cannot be compared/)
})

test('a period before the first count, and one that is stored by longer steps, are not shown', () => {
  const none = compare(metrics(start - 2 * hour, 0, { countedFrom: iso(start) }))
  expect(none).toEqual({ note: expect.stringMatching(/^There is no previous period/) as string })
  const coarse = compare({ ...metrics(start - 2 * hour, 5), step: 'day' as never })
  expect(coarse).toEqual({ note: expect.stringMatching(/stores it by day only/) as string })
})
