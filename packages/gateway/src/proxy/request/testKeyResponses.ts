import type { TestKey } from '../../auth/key/testKey.ts'
import type { TakenLimits } from './takeLimits.ts'

const dayMs = 86_400_000
const perSecond = 25
const perDay = 25_000

/** How late `kr_test_slow` gets its response, in milliseconds: later than the timeout of most clients. */
export const testKeyDelayMs = 15_000

/**
 * The limits of a test key: those of a real key whose rate or quota is used up.
 * @returns `undefined` if the test key simulates something else.
 */
export const getTestKeyLimits = (testKey: TestKey, calls: number, nowMs: number): TakenLimits | undefined => {
  if (testKey === '429')
    return {
      granted: 0,
      rate: {
        granted: 0,
        perSecond,
        remaining: 0,
        retryAfterMs: 1_000,
        resetMs: 1_000,
        currentPerSecond: perSecond + calls,
      },
      quota: undefined,
    }
  if (testKey !== 'quota') return undefined
  const midnight = Math.floor(nowMs / dayMs) * dayMs
  return {
    granted: 0,
    rate: undefined,
    quota: {
      granted: 0,
      rejectedBy: 'day',
      limit: perDay,
      remaining: 0,
      resetAtMs: midnight + dayMs,
      account: { id: 'key:test_quota', perDay, perMonth: null },
      day: new Date(nowMs).toISOString().slice(0, 10),
    },
  }
}
