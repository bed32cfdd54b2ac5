import { describe, expect, test } from 'vitest'
import { countDecisions } from './countDecisions.ts'
import type { LimitGrant, LimitRequest, QuotaGrant, UsageLimits } from './usageLimits.ts'

const quota = { id: 'user:usr_1', perDay: 10, perMonth: 100 }
const rejected: QuotaGrant = {
  granted: 0,
  charged: 0,
  limit: 10,
  remaining: 0,
  resetAtMs: 0,
  quota,
  day: '2026-11-23',
}
const request = (passed: number): LimitRequest => ({ id: 'key', rate: undefined, quota, calls: passed, passed })

const start = () => {
  let grant: LimitGrant | Promise<LimitGrant> = { granted: 0, rate: undefined, quota: undefined }
  const limits: UsageLimits = {
    take: () => grant,
    giveBack: () => 0,
    peek: () => createRate(0),
    usage: () => Promise.reject(new Error('not used')),
    close: () => Promise.resolve(),
  }
  const [counted, read] = countDecisions(limits)
  return {
    read,
    counted,
    take: (passed: number, next: LimitGrant | Promise<LimitGrant>) => {
      grant = next
      return counted.take(request(passed))
    },
  }
}
const createRate = (granted: number) => ({
  granted,
  perSecond: 1,
  remaining: 0,
  retryAfterMs: 1,
  resetMs: 1,
  currentPerSecond: 1,
})

describe('countDecisions', () => {
  test('counts each call once, by what rejected it', () => {
    const { take, read } = start()
    void take(10, { granted: 3, rate: createRate(7), quota: { ...rejected, granted: 3, rejectedBy: 'day' } })
    void take(5, { granted: 0, rate: undefined, quota: { ...rejected, rejectedBy: 'month' } })
    void take(1, { granted: 1, rate: undefined, quota: undefined })
    expect(read().decisions).toEqual({ granted: 4, rate: 3, day: 4, month: 5, unavailable: 0 })
    expect(read().waits.counts.every((count) => count === 0)).toBe(true)
  })

  test('counts how long decisions took that this process did not make alone, and those that failed', async () => {
    const { take, read } = start()
    let resolve: ((grant: LimitGrant) => void) | undefined
    const decided = take(2, new Promise((done) => (resolve = done)))
    expect(read().waiting).toBe(1)
    resolve?.({ granted: 2, rate: undefined, quota: undefined })
    await decided
    await expect(take(3, Promise.reject(new Error('lost')))).rejects.toThrow('lost')
    const { decisions, waits, waiting } = read()
    expect({ ...decisions, waiting }).toEqual({ granted: 2, rate: 0, day: 0, month: 0, unavailable: 3, waiting: 0 })
    expect(waits.counts.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(waits.sum).toBeGreaterThan(0)
  })

  test('counts a request that is rejected before its body is parsed as one call', () => {
    const { counted, read } = start()
    counted.peek('key', { perSecond: 1, burst: 1 })
    expect(read().decisions.rate).toBe(1)
  })
})
