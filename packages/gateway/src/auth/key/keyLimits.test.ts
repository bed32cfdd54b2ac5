import { describe, expect, test } from 'vitest'
import { limitsInForce } from './keyLimits.ts'

const everybody = { perSecond: 100, burst: 1_000, perDay: 25_000, perMonth: null }

describe('limitsInForce', () => {
  test('takes each member from the strongest layer that has it', () => {
    expect(limitsInForce([{ perDay: 5 }, { perDay: 6, perSecond: 7 }], everybody)).toEqual({
      perSecond: 7,
      burst: 1_000,
      perDay: 5,
      perMonth: null,
    })
    expect(limitsInForce([null, null], everybody)).toEqual(everybody)
  })

  test('null in a layer is no limit, and not a missing one', () => {
    expect(limitsInForce([{ perDay: null }, { perDay: 6 }], everybody).perDay).toBeNull()
  })

  test('a daily limit of 0 is one', () => {
    expect(limitsInForce([{ perDay: 0 }], everybody).perDay).toBe(0)
  })

  test.each([{ perDay: -1 }, { perDay: '5' }, { perDay: Number.NaN }, { perSecond: 0 }, { burst: null }, { burst: 0 }])(
    'passes over what was stored wrongly: %o',
    (layer) => {
      expect(limitsInForce([layer], everybody)).toEqual(everybody)
    },
  )

  test('an inherited member is none', () => {
    expect(limitsInForce([Object.create({ perDay: 1 }) as Record<string, unknown>], everybody)).toEqual(everybody)
  })
})
