import { expect, test } from 'vitest'
import { resetText, utcDayText } from './times.ts'

const midnight = '2026-11-22T00:00:00.000Z'

test('what begins anew by UTC is told with its zone, and in the time of the reader where that differs', () => {
  const there = resetText(midnight, 'America/New_York')
  expect(there).toMatch(/22.* UTC, .*21.* your time$/)
  expect(resetText(midnight, 'UTC')).toMatch(/22.* UTC$/)
})

test('a day of UTC is that day everywhere', () => {
  expect(utcDayText(midnight)).toContain('22')
})
