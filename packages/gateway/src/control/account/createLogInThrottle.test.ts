import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogInThrottle } from './createLogInThrottle.ts'

const minute = 60_000

const start = () => {
  const clock = { now: 1_700_000_000_000 }
  return { clock, throttle: createLogInThrottle({ now: () => clock.now }) }
}
const address = (at: number): string => `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`

describe('the log-in throttle', () => {
  test('limits a client at one account, and no other client or account', () => {
    const { clock, throttle } = start()
    const fail = (email: string, ip: string) => throttle.take({ email, ip }).retryAfterMs
    expect(Array.from({ length: 6 }, () => fail('ann@x', '192.0.2.1'))).toEqual([0, 0, 0, 0, 0, minute])
    expect(fail(' ANN@x ', '::ffff:192.0.2.1')).toBe(minute)
    expect(fail('bob@x', '192.0.2.1')).toBe(0)
    expect(fail('ann@x', '192.0.2.2')).toBe(0)
    clock.now += minute
    expect(fail('ann@x', '192.0.2.1')).toBe(0)
  })

  test('limits a client at many accounts, and treats a /64 as one client', () => {
    const { throttle } = start()
    const waits = Array.from(
      { length: 40 },
      (_, at) => throttle.take({ email: `user${at}@x`, ip: `2001:db8::${at.toString(16)}` }).retryAfterMs,
    )
    expect(waits.filter((wait) => wait === 0)).toHaveLength(30)
    expect(throttle.take({ email: 'ann@x', ip: '2001:db8:0:1::1' }).retryAfterMs).toBe(0)
  })

  test('does not limit right passwords, up to one per second', () => {
    const { clock, throttle } = start()
    for (let at = 0; at < 200; at += 1) {
      const attempt = throttle.take({ email: 'ann@x', ip: '192.0.2.1' })
      expect(attempt.retryAfterMs).toBe(0)
      attempt.succeeded()
      clock.now += 1_000
    }
    const waits = Array.from({ length: 70 }, () => {
      const attempt = throttle.take({ email: 'ann@x', ip: '192.0.2.1' })
      attempt.succeeded()
      return attempt.retryAfterMs
    })
    expect(waits.filter((wait) => wait === 0)).toHaveLength(60)
  })

  test('allows each client one attempt in five minutes at an account under a distributed attack', () => {
    const { clock, throttle } = start()
    const fail = (at: number) => throttle.take({ email: 'ann@x', ip: address(at) }).retryAfterMs
    for (let at = 0; at < 50; at += 1) expect(fail(at)).toBe(0)
    expect(fail(0)).toBe(5 * minute)
    expect(fail(1_000)).toBe(0)
    expect(fail(1_000)).toBe(5 * minute)
    expect(throttle.take({ email: 'bob@x', ip: address(0) }).retryAfterMs).toBe(0)
    // The failures decay.
    clock.now += 50 * 30_000
    expect([fail(0), fail(0), fail(0)]).toEqual([0, 0, 0])
  })

  test('never locks out a client that has not failed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 300 }), fc.constantFrom('ann@x', 'bob@x'), fc.nat({ max: 5_000 })), {
          minLength: 50,
          maxLength: 400,
        }),
        (attacks) => {
          const { clock, throttle } = start()
          for (const [at, email, wait] of attacks) {
            clock.now += wait
            throttle.take({ email, ip: address(at) })
          }
          expect(throttle.take({ email: 'ann@x', ip: '192.0.2.1' }).retryAfterMs).toBe(0)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('never allows a client more failures at an account than five, plus one per minute', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 90_000 }), { minLength: 10, maxLength: 80 }), (waits) => {
        const { clock, throttle } = start()
        const startedAt = clock.now
        let tried = 0
        for (const wait of waits) {
          clock.now += wait
          if (throttle.take({ email: 'ann@x', ip: '192.0.2.1' }).retryAfterMs === 0) tried += 1
        }
        expect(tried).toBeLessThanOrEqual(5 + (clock.now - startedAt) / minute)
      }),
      { numRuns: 200 },
    )
  })
})
