import { expect, test } from 'vitest'
import { agoText, resetText, spanText, utcDayText } from './times.ts'

const midnight = '2026-11-22T00:00:00.000Z'

test('a reset by UTC is shown with its zone, and in the time zone of the reader', () => {
  const there = resetText(midnight, 'America/New_York')
  expect(there).toMatch(/22.* UTC, .*21.* your time$/)
  expect(resetText(midnight, 'UTC')).toMatch(/22.* UTC$/)
})

test('a day of UTC is that day everywhere', () => {
  expect(utcDayText(midnight)).toContain('22')
})

test('a duration in seconds is shown in common units', () => {
  expect(spanText(86_400)).toBe('1 day')
  expect(spanText(5_400)).toBe('1 hour 30 minutes')
  expect(spanText(31_536_000)).toBe('365 days')
  expect(spanText(2 * 86_400 + 61)).toBe('2 days 1 minute 1 second')
})

test.each([
  ['2026-11-22T00:00:00.000Z', '1 minute ago'],
  ['2026-11-21T23:55:00.000Z', '5 minutes ago'],
  ['2026-11-21T22:01:00.000Z', '1 hour ago'],
  ['2026-10-23T00:00:00.000Z', '30 days ago'],
])('the minute %s was %s', (time, expected) => {
  expect(agoText(time, Date.parse(midnight) + 59_000)).toBe(expected)
})
