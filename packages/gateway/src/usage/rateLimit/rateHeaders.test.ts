import { describe, expect, test } from 'vitest'
import { rejections } from '../../errors/rejections.ts'
import { createRateLimit } from './createRateLimit.ts'
import { rateHeaders } from './rateHeaders.ts'

const nowMs = Date.UTC(2026, 10, 21, 12, 0, 0, 250)

describe('what a caller is told of a rate', () => {
  test('on an answer: how much is left, and when all of it will be again', () => {
    const rate = createRateLimit({ perSecond: 10, now: () => 0 }).take('key', 4)
    expect(rateHeaders(rate, nowMs)).toEqual([
      'X-RateLimit-Limit',
      '10',
      'X-RateLimit-Remaining',
      '6',
      'X-RateLimit-Reset',
      String(Date.UTC(2026, 10, 21, 12, 0, 1) / 1000),
    ])
  })

  test('on a rejection: 429 as the table says, and Retry-After as a date, never before the time that it names', () => {
    const limit = createRateLimit({ perSecond: 10, now: () => 0 })
    limit.take('key', 10)
    expect(rejections.rateLimited({ ...limit.take('key'), nowMs })).toEqual({
      status: 429,
      code: -32005,
      message: 'Request rate exceeded: 10 requests per second',
      reason: 'rate_limited',
      data: {
        limit: 10,
        window: 'second',
        retryAfterMs: 100,
        backoff_seconds: 1,
        allowed_rps: 10,
        current_rps: 11,
      },
      headers: ['Retry-After', 'Sat, 21 Nov 2026 12:00:01 GMT'],
    })
  })
})
