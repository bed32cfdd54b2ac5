import { expect, test } from 'vitest'
import { narrowLimits } from './narrowLimits.ts'

const most = { perSecond: null, burst: 1_000, perDay: 100, perMonth: 5_000 }

test("an owner's limits narrow what the account may use, and never widen it", () => {
  expect(narrowLimits(null, most)).toEqual(most)
  expect(narrowLimits({}, most)).toEqual(most)
  expect(narrowLimits({ perSecond: 5, burst: 10, perDay: 50, perMonth: 1 }, most)).toEqual({
    perSecond: 5,
    burst: 10,
    perDay: 50,
    perMonth: 1,
  })
  expect(narrowLimits({ perSecond: null, burst: 9_999, perDay: null, perMonth: 9_999 }, most)).toEqual(most)
  expect(narrowLimits({ perDay: 'x', burst: -1 }, most)).toEqual(most)
})
