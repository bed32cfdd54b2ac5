import { expect, test } from 'vitest'
import { createPollSchedule } from './createPollSchedule.ts'

const toTimestamps = (gaps: readonly number[]): number[] => {
  let at = 1_700_000_000
  return [at, ...gaps.map((gap) => (at += gap))]
}

test.each([
  ['slots of 12 s, some of them empty', [12, 12, 24, 12, 36], 12_000],
  ['a block every 2 s', [2, 2, 2], 2_000],
  ['four blocks a second, in whole seconds', [0, 0, 0, 1, 0, 0, 0, 1], 250],
  ['three blocks in two seconds', [1, 0, 1, 1, 0, 1], 667],
  ['mining on demand, with long pauses', [1, 600, 3, 1, 40], 1_000],
  ['blocks that are far apart', [300, 600], 12_000],
  ['a clock that does not advance', [0, 0, 0], 250],
])('learns the block time of %s', (_, gaps, blockMs) => {
  const schedule = createPollSchedule()
  expect(schedule.afterNews(toTimestamps(gaps))).toBeCloseTo(blockMs * 0.9, -1)
  expect(schedule.blockMs()).toBeCloseTo(blockMs, -1)
})

test('assumes 2 s while only one block is known', () => {
  expect(createPollSchedule().afterNews([1_700_000_000])).toBe(1_800)
})

test('while a block is due, each step is longer by half, up to 4 s; they are short again after news or when a block is expected', () => {
  const schedule = createPollSchedule()
  schedule.afterNews([0, 12])
  expect(Array.from({ length: 5 }, schedule.afterNothing)).toEqual([1_500, 2_250, 3_375, 4_000, 4_000])
  schedule.afterNews([0, 12])
  expect([schedule.afterNothing(), schedule.afterNothing()]).toEqual([1_500, 2_250])
  schedule.expectBlock()
  expect(schedule.afterNothing()).toBe(1_500)
})

test('after failures the delay doubles, up to 4 s', () => {
  expect([1, 2, 3, 4, 5, 6, 60].map(createPollSchedule().afterFailure)).toEqual([
    250, 500, 1_000, 2_000, 4_000, 4_000, 4_000,
  ])
})
