import { expect, test } from 'vitest'
import { isUnused } from './isUnused.ts'

const day = '2026-11-23T'

test.each([
  ['12:00:00', '10:00:00', '14:00:59', false],
  ['12:00:00', '10:00:00', '14:01:00', true],
  [null, '10:00:00', '12:00:59', false],
  [null, '10:00:00', '12:01:00', true],
  // Before the rotation it was the only key, so it may be in use.
  ['08:00:00', '10:00:00', '11:00:00', false],
])('an old key last used at %s, rotated at %s, is unused at %s: %s', (used, rotated, now, expected) => {
  const lastUsedAt = used === null ? null : `${day}${used}Z`
  expect(isUnused({ lastUsedAt, rotatedAt: `${day}${rotated}Z`, now: Date.parse(`${day}${now}Z`) })).toBe(expected)
})

test('an old key whose last use is unknown may be in use', () => {
  expect(isUnused({ lastUsedAt: undefined, rotatedAt: null, now: Date.now() })).toBe(false)
})
