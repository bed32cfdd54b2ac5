import { expect, test } from 'vitest'
import { toTicks } from './ticks.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const row = (end: string, step: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => Date.parse(end) - (count - 1 - at) * step)
const texts = (times: readonly number[], most: number): string[] =>
  toTicks(times, { most, timeZone: 'UTC' }).map(({ text }) => text.replace('\u202f', ' '))

test('ticks of an hour are every ten minutes, those of a day on the hour', () => {
  expect(texts(row('2026-11-23T12:07:00Z', minute, 60), 6)).toEqual([
    '11:10 AM',
    '11:20 AM',
    '11:30 AM',
    '11:40 AM',
    '11:50 AM',
    '12:00 PM',
  ])
  expect(texts(row('2026-11-23T12:00:00Z', hour, 24), 8)).toEqual([
    '3:00 PM',
    '6:00 PM',
    '9:00 PM',
    '12:00 AM',
    '3:00 AM',
    '6:00 AM',
    '9:00 AM',
    '12:00 PM',
  ])
})

test('ticks of a week are at midnights, each day once', () => {
  expect(texts(row('2026-11-23T12:00:00Z', hour, 168), 7)).toEqual([
    'Nov 17',
    'Nov 18',
    'Nov 19',
    'Nov 20',
    'Nov 21',
    'Nov 22',
    'Nov 23',
  ])
})

test('ticks of 30 and 90 days are at Mondays', () => {
  expect(texts(row('2026-11-23T00:00:00Z', day, 30), 8)).toEqual(['Oct 26', 'Nov 2', 'Nov 9', 'Nov 16', 'Nov 23'])
  for (const { index } of toTicks(row('2026-11-23T00:00:00Z', day, 90), { most: 8, timeZone: 'UTC' })) {
    expect(new Date(row('2026-11-23T00:00:00Z', day, 90)[index] ?? 0).getUTCDay()).toBe(1)
  }
})

test('there are never more ticks than fit', () => {
  for (const [step, count] of [
    [minute, 60],
    [hour, 24],
    [hour, 168],
    [day, 30],
    [day, 90],
  ] as const) {
    for (let most = 2; most < 12; most += 1) {
      const ticks = toTicks(row('2026-11-23T12:00:00Z', step, count), { most })
      expect(ticks.length).toBeLessThanOrEqual(most)
      expect(ticks.length).toBeGreaterThan(0)
    }
  }
})
