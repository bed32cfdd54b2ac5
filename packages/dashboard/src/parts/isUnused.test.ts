import { expect, test } from 'vitest'
import { isUnused } from './isUnused.ts'

const lastUsedAt = '2026-11-23T12:00:00.000Z'

test.each([
  [lastUsedAt, '2026-11-23T14:00:59.999Z', false],
  [lastUsedAt, '2026-11-23T14:01:00.000Z', true],
  [null, '2026-11-23T12:00:00.000Z', true],
  [undefined, '2026-11-23T12:00:00.000Z', false],
])('an old key last used at %s is unused for 2 hours at %s: %s', (last, now, expected) => {
  expect(isUnused(last, Date.parse(now))).toBe(expected)
})
