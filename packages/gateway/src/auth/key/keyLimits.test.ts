import { describe, expect, test } from 'vitest'
import { narrowLimits, resolveLimits } from './keyLimits.ts'

const defaults = { perSecond: 100, burst: 1_000, perDay: 25_000, perMonth: null }

describe('resolveLimits', () => {
  test('takes each member from the first layer that has it', () => {
    expect(resolveLimits([{ perDay: 5 }, { perDay: 6, perSecond: 7 }], defaults)).toEqual({
      perSecond: 7,
      burst: 1_000,
      perDay: 5,
      perMonth: null,
    })
    expect(resolveLimits([null, null], defaults)).toEqual(defaults)
  })

  test('null in a layer means no limit', () => {
    expect(resolveLimits([{ perDay: null }, { perDay: 6 }], defaults).perDay).toBeNull()
  })

  test('a daily limit of 0 is valid', () => {
    expect(resolveLimits([{ perDay: 0 }], defaults).perDay).toBe(0)
  })

  test.each([{ perDay: -1 }, { perDay: '5' }, { perDay: Number.NaN }, { perSecond: 0 }, { burst: null }, { burst: 0 }])(
    'ignores invalid stored members: %o',
    (layer) => {
      expect(resolveLimits([layer], defaults)).toEqual(defaults)
    },
  )

  test('ignores inherited members', () => {
    expect(resolveLimits([Object.create({ perDay: 1 }) as Record<string, unknown>], defaults)).toEqual(defaults)
  })
})

const account = { perSecond: null, burst: 1_000, perDay: 100, perMonth: 5_000 }

test('narrowLimits narrows the limits of the account and never widens them', () => {
  expect(narrowLimits(null, account)).toEqual(account)
  expect(narrowLimits({}, account)).toEqual(account)
  expect(narrowLimits({ perSecond: 5, burst: 10, perDay: 50, perMonth: 1 }, account)).toEqual({
    perSecond: 5,
    burst: 10,
    perDay: 50,
    perMonth: 1,
  })
  expect(narrowLimits({ perSecond: null, burst: 9_999, perDay: null, perMonth: 9_999 }, account)).toEqual(account)
  expect(narrowLimits({ perDay: 'x', burst: -1 }, account)).toEqual(account)
})
