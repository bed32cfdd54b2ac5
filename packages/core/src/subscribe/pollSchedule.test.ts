import { describe, expect, test } from 'vitest'
import { createPollSchedule } from './pollSchedule.ts'
import type { PollSchedule } from './pollSchedule.ts'

const stamps = (...gaps: number[]): number[] => {
  let at = 1_700_000_000
  return [at, ...gaps.map((gap) => (at += gap))]
}

describe('createPollSchedule', () => {
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
    expect(schedule.afterNews(stamps(...gaps))).toBeCloseTo(blockMs * 0.9, -1)
    expect(schedule.blockMs()).toBeCloseTo(blockMs, -1)
  })

  test('assumes 2 s while it knows only one block', () => {
    expect(createPollSchedule().afterNews(stamps())).toBe(1_800)
  })

  test('takes short steps while a block is due, each longer by half, up to 4 s, and short ones again after news or when a block is expected', () => {
    const schedule = createPollSchedule()
    schedule.afterNews(stamps(12))
    expect(Array.from({ length: 5 }, () => schedule.afterNothing())).toEqual([1_500, 2_250, 3_375, 4_000, 4_000])
    schedule.afterNews(stamps(12))
    expect([schedule.afterNothing(), schedule.afterNothing()]).toEqual([1_500, 2_250])
    schedule.expectBlock()
    expect(schedule.afterNothing()).toBe(1_500)
  })

  test('doubles the delay after each failure in a row, within its bounds', () => {
    const getDelays = (schedule: PollSchedule): number[] =>
      [1, 2, 3, 4, 5, 6, 60].map((failures) => schedule.afterFailure(failures))
    expect(getDelays(createPollSchedule())).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    expect(getDelays(createPollSchedule({ firstBackoffMs: 250, longestBackoffMs: 4_000 }))).toEqual([
      250, 500, 1_000, 2_000, 4_000, 4_000, 4_000,
    ])
  })

  test('uses a fixed interval except after failures', () => {
    const schedule = createPollSchedule({ fixedMs: 5_000 })
    expect([schedule.afterNews(stamps(12)), schedule.afterNothing(), schedule.afterNothing()]).toEqual([
      5_000, 5_000, 5_000,
    ])
    expect([1, 2, 3, 4].map((failures) => schedule.afterFailure(failures))).toEqual([5_000, 10_000, 20_000, 30_000])
    expect(createPollSchedule({ fixedMs: 60_000 }).afterFailure(1)).toBe(60_000)
    expect(schedule.afterFailure(1, 90_000)).toBe(90_000)
  })
})
