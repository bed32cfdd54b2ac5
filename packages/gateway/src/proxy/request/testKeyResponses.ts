import type { TestKey } from '../../auth/key/tenant.ts'
import type { TakenLimits } from './takenLimits.ts'

const dayMs = 86_400_000
const perSecond = 25
const perDay = 25_000

/** How late `kr_test_slow` is answered, in milliseconds: past the time that most clients wait. */
export const testKeyDelayMs = 15_000

/**
 * What a rehearsal key is granted: what a real one would be told at its limit.
 * @returns `undefined` where it rehearses something else.
 */
export const testKeyLimits = (testKey: TestKey, calls: number, nowMs: number): TakenLimits | undefined => {
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
