import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../clock/now.ts'
import { createFailure } from '../../failure/createFailure.ts'
import type { FailureFacts } from '../../failure/failureFacts.ts'
import type { KeyrailError } from '../../failure/keyrailError.ts'
import { createPace } from './budgetPace.ts'
import type { Pace } from './budgetPace.ts'

const DAY_MS = 86_400_000
const fail = (facts: FailureFacts): KeyrailError =>
  createFailure(facts, { method: 'eth_chainId', redactedUrl: 'https://node.example/…' })
/** A rejection as too many; `retryAfter` is in seconds. */
const slowDown = (retryAfter?: string): KeyrailError => fail({ text: 'slow down', status: 429, retryAfter })
const usedUp = (data: object = {}, retryAfter?: string): KeyrailError => {
  const rpcError = { code: -32005, message: 'quota exceeded', data: { reason: 'quota_exceeded', ...data } }
  return fail({ text: rpcError.message, status: 403, rpcError, retryAfter })
}

const advance = (ms: number): unknown => vi.advanceTimersByTime(ms)
/** Sends a call that gets a response at once. */
const response = (pace: Pace): void => {
  const at = now()
  pace.hear(at, pace.send(1, at))
}
/** Sends a call that is rejected at once. */
const reject = (pace: Pace, failure: unknown): boolean => {
  const at = now()
  return pace.hear(at, pace.send(1, at), failure)
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) })
  // The clock of a program that has run for a while.
  advance(7_000)
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the trial after a pause', () => {
  test('is sent alone: the others follow after its response', () => {
    const pace = createPace(100, 100)
    expect(pace.pause(now())).toEqual({ ms: 0, kind: 'throttled' })
    expect(reject(pace, slowDown('1'))).toBe(true)
    expect(pace.pause(now())).toEqual({ ms: 1_000, kind: 'throttled' })
    expect(pace.trying()).toBe(false)
    advance(1_000)
    expect(pace.waitMs(1, now())).toBe(0)
    const at = now()
    expect(pace.send(1, at)).toBe(true)
    expect(pace.trying()).toBe(true)
    advance(100)
    // As long as the pause would be if it were rejected.
    expect(pace.waitMs(1, now())).toBe(500)
    expect(pace.hear(at, true)).toBe(false)
    expect(pace.trying()).toBe(false)
    expect(pace.waitMs(1, now())).toBe(0)
    expect(pace.send(1, now())).toBe(false)
  })

  test('follows every pause', () => {
    const pace = createPace(100, 100)
    for (let pause = 0; pause < 3; pause++) {
      expect(pace.send(1, now())).toBe(false)
      reject(pace, slowDown('1'))
      advance(1_000)
      const at = now()
      expect(pace.send(1, at)).toBe(true)
      pace.hear(at, true)
    }
  })

  test('is not over when older calls end, with a result or a rejection', () => {
    const pace = createPace(100, 100)
    const before = now()
    for (let call = 0; call < 3; call++) pace.send(1, before)
    pace.hear(before, false, slowDown('1'))
    advance(1_000)
    const at = now()
    expect(pace.send(1, at)).toBe(true)
    pace.hear(before, false)
    expect(pace.trying()).toBe(true)
    pace.hear(before, false, slowDown('2'))
    expect(pace.trying()).toBe(true)
    pace.hear(at, true)
    expect(pace.trying()).toBe(false)
  })

  test('is repeated by the next call if it was canceled, and only then', () => {
    const pace = createPace(100, 100)
    pace.send(1, now())
    pace.forget(false, 0)
    expect(pace.send(1, now())).toBe(false)
    reject(pace, slowDown('1'))
    advance(1_000)
    expect(pace.send(1, now())).toBe(true)
    pace.forget(true, 0)
    expect(pace.trying()).toBe(false)
    expect(pace.send(1, now())).toBe(true)
  })

  test('that is rejected at the same instant slows down again', () => {
    const pace = createPace(100, 100)
    reject(pace, slowDown('0'))
    expect(pace.rate()).toBe(50)
    expect(reject(pace, slowDown('5'))).toBe(true)
    expect(pace.rate()).toBe(25)
  })
})

describe('rejections of calls that were in flight together', () => {
  test('slow down once, and extend the pause only if one requests a longer one', () => {
    const pace = createPace(100, 100)
    const at = now()
    for (let call = 0; call < 5; call++) pace.send(1, at)
    advance(10)
    expect(pace.hear(at, false, slowDown())).toBe(true)
    expect(pace.pause(now()).ms).toBe(250)
    advance(100)
    expect(pace.hear(at, false, slowDown())).toBe(false)
    expect(pace.pause(now()).ms).toBe(150)
    expect(pace.hear(at, false, slowDown('2'))).toBe(true)
    expect(pace.pause(now()).ms).toBe(2_000)
    // No new pause starts, so no call has to be rejected.
    expect(pace.hear(at, false, slowDown('2'))).toBe(false)
    expect(pace.hear(at, false, slowDown('1'))).toBe(false)
    expect(pace.pause(now()).ms).toBe(2_000)
    expect(pace.rate()).toBe(50)
  })
})

describe('the rate', () => {
  test('is measured if none was set: the units sent in this second or the one before', () => {
    const pace = createPace(Infinity, 100)
    for (let call = 0; call < 40; call++) pace.send(1, now())
    advance(1_000)
    for (let call = 0; call < 9; call++) pace.send(1, now())
    reject(pace, slowDown('0'))
    expect(pace.rate()).toBe(20)
  })

  test('is measured without calls before an idle time', () => {
    const pace = createPace(Infinity, 100)
    for (let call = 0; call < 40; call++) pace.send(1, now())
    advance(5_000)
    for (let call = 0; call < 9; call++) pace.send(1, now())
    reject(pace, slowDown('0'))
    expect(pace.rate()).toBe(5)
  })

  test('that was measured is removed again, also when it recovers to exactly its first value', () => {
    const pace = createPace(Infinity, 100)
    for (let call = 0; call < 99; call++) pace.send(1, now())
    reject(pace, slowDown('0'))
    expect(pace.rate()).toBe(50)
    for (let second = 0; second < 24; second++) {
      advance(1_000)
      response(pace)
    }
    expect(pace.rate()).toBe(98)
    advance(1_000)
    response(pace)
    expect(pace.rate()).toBe(Infinity)
  })
})

describe('an outcome that is no rejection as too many or over quota by the endpoint', () => {
  test.each([
    ['a key that is not known', fail({ text: 'invalid key', status: 401 })],
    ['an endpoint that is down', fail({ text: 'Service Unavailable', status: 503, retryAfter: '30' })],
    ['a quota of this side', fail({ kind: 'quota', text: 'used up' })],
    ['a reason to abort', new Error('enough')],
    ['no reason', null],
  ])('does not start a pause: %s', (_, failure) => {
    const pace = createPace(100, 100)
    expect(reject(pace, failure)).toBe(false)
    expect(pace.pause(now()).ms).toBe(0)
    expect(pace.rate()).toBe(100)
  })
})

describe('a used-up quota', () => {
  const pauseMs = (failure: KeyrailError): number => {
    const pace = createPace(Infinity, 100)
    expect(reject(pace, failure)).toBe(true)
    const { ms, kind } = pace.pause(now())
    expect(kind).toBe('quota')
    return Math.round(ms)
  }

  test('pauses until a reset in seconds or milliseconds since 1970, or in words', () => {
    const resetAt = Date.now() + 3_600_000
    for (const named of [resetAt, resetAt / 1_000, new Date(resetAt).toISOString()])
      expect(pauseMs(usedUp({ resetAt: named }))).toBe(3_600_000)
  })

  test('is checked again in five minutes if the named reset has passed', () => {
    for (const ago of [0, 1, DAY_MS]) expect(pauseMs(usedUp({ resetAt: Date.now() - ago }))).toBe(300_000)
  })

  test('pauses as long as the endpoint requests, but at most a month', () => {
    expect(pauseMs(usedUp({}, '7200'))).toBe(7_200_000)
    expect(pauseMs(usedUp({}, '99999999'))).toBe(2 ** 31 - 1)
  })
})
