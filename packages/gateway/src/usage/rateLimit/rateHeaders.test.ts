import { describe, expect, test } from 'vitest'
import { rejections } from '../../errors/rejections.ts'
import { createRateLimiter } from './createRateLimiter.ts'
import { rateHeaders } from './rateHeaders.ts'

const nowMs = Date.UTC(2026, 10, 21, 12, 0, 0, 250)

const limits = { perSecond: 10, burst: 10 }

describe('rate limit headers', () => {
  test('a response has the limit, what remains and when the bucket is full again', () => {
    const rate = createRateLimiter({ now: () => 0 }).take('key', limits, 4)
    expect(rateHeaders(rate, nowMs)).toEqual([
      'X-RateLimit-Limit',
      '10',
      'X-RateLimit-Remaining',
      '6',
      'X-RateLimit-Reset',
      String(Date.UTC(2026, 10, 21, 12, 0, 1) / 1000),
    ])
  })

  test('a rejection is a 429 as documented, with Retry-After as a date that is never too early', () => {
    const rates = createRateLimiter({ now: () => 0 })
    rates.take('key', limits, 10)
    expect(rejections.rateLimited({ ...rates.take('key', limits, 1), nowMs })).toEqual({
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
