import { afterEach, expect, test, vi } from 'vitest'
import { getWaitMs } from './getWaitMs.ts'

afterEach(() => vi.restoreAllMocks())

test.each([
  ['the longest', 0, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
  ['half of it', 1, [500, 1_000, 2_000, 4_000, 5_000, 5_000]],
])('waits double up to the longest: %s', (_, random, waits) => {
  vi.spyOn(Math, 'random').mockReturnValue(random)
  const failures = [1, 2, 3, 4, 5, 2_000]
  expect(failures.map((count) => getWaitMs(count, { firstMs: 1_000, longestMs: 10_000 }))).toEqual(waits)
})
