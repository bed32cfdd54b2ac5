import { retryAfters } from '@keyrail/vectors'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { parseRetryAfter } from './parseRetryAfter.ts'

afterEach(() => vi.useRealTimers())

describe('parseRetryAfter', () => {
  test.each(retryAfters.filter(({ appliesTo }) => appliesTo.includes('ts')))(
    '$name',
    ({ given, now, expect: wait }) => {
      const { data, ...facts } = given
      const rpcError = { code: -32005, message: given.text, data }
      expect(parseRetryAfter({ ...facts, rpcError }, facts.date && !now ? undefined : now)).toBe(wait ?? undefined)
    },
  )

  test('uses the local clock if there is neither a date nor `now`', () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
    expect(parseRetryAfter({ text: '', retryAfter: 'Thu, 01 Jan 2026 00:01:00 GMT' })).toBe(60_000)
  })

  test('ignores an infinite wait', () => {
    expect(parseRetryAfter({ text: `try again in ${'9'.repeat(400)} s` })).toBeUndefined()
    expect(parseRetryAfter({ text: '', retryAfter: '9'.repeat(400) })).toBeUndefined()
  })

  test('returns a number from 0 to 2^31 - 1, or undefined, for any header and text', () => {
    const anything = fc.option(fc.oneof(fc.string(), fc.double(), fc.maxSafeInteger(), fc.jsonValue()), {
      nil: undefined,
    })
    fc.assert(
      fc.property(
        fc.string(),
        fc.option(fc.oneof(fc.string(), fc.maxSafeNat().map(String))),
        anything,
        anything,
        (text, header, ms, rate) => {
          const data = { retryAfterMs: ms, backoff_seconds: rate, rate }
          const wait = parseRetryAfter({ text, retryAfter: header, rpcError: { code: 1, message: text, data } })
          expect(wait === undefined || (wait >= 0 && wait < 2 ** 31)).toBe(true)
        },
      ),
    )
  })
})
