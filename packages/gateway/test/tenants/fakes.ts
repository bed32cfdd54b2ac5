import { createRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import type { Meter, Outcome } from '../../src/usage/metering/meter.ts'
import { createReservation, returnReserved, setReserved, grantReserved } from '../../src/usage/limits/reservation.ts'
import { toQuotaGrant, toQuotaUsage } from '../../src/usage/limits/quotaCounter.ts'
import { takeRateThenQuota } from '../../src/usage/limits/takeRateThenQuota.ts'
import type { LimitGrant, LimitRequest, UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'

/** Limits in memory, of one day. */
export interface FakeLimits extends UsageLimits {
  readonly used: (id: string) => number
  /** The units of each `giveBack`. */
  readonly givenBack: number[]
  /** Whether `take` returns a plain value, a promise, or a rejected promise. */
  mode: 'sync' | 'async' | 'unavailable'
}

/** Creates limits in memory. @param options.later - Whether requests with a rate get a promise, as they do with Redis. */
export const createFakeLimits = ({ now, later = false }: { now: () => number; later?: boolean }): FakeLimits => {
  const rates = createRateLimiter({ now })
  const states = new Map<string, ReturnType<typeof createReservation>>()
  const getState = (id: string): ReturnType<typeof createReservation> => {
    let state = states.get(id)
    if (state === undefined) {
      states.set(id, (state = createReservation(getUtcDay(now()))))
      setReserved(state, state.counter.day, { charged: Infinity, otherDay: 0, otherMonth: 0 }, Infinity)
    }
    return state
  }
  const takeNow = (request: LimitRequest): LimitGrant =>
    takeRateThenQuota<never>(rates, request, (quota, calls) => {
      const state = getState(quota.id)
      const taken = grantReserved(state, quota, { calls, weights: request.weights, now: 0 })
      if (taken === 'wait') throw new Error('nothing has to wait')
      return toQuotaGrant(state.counter, quota, { calls, ...taken })
    })
  const givenBack: number[] = []
  const limits: FakeLimits = {
    mode: 'sync',
    used: (id) => states.get(id)?.used ?? 0,
    givenBack,
    take: (request) => {
      if (limits.mode === 'unavailable' && request.quota !== undefined && request.passed > 0)
        return Promise.reject(new Error('the database is unreachable'))
      const grant = takeNow(request)
      if (later && request.rate !== undefined) return Promise.resolve(grant)
      return limits.mode === 'async' ? new Promise((resolve) => setImmediate(resolve, grant)) : grant
    },
    giveBack: ({ quota }, units) => {
      givenBack.push(units)
      returnReserved(getState(quota.id), units)
      return units
    },
    peek: (id, rate) => rates.peek(id, rate),
    usage: async (quota) => toQuotaUsage(getState(quota.id).counter, quota),
    close: async () => {},
  }
  return limits
}

/** A meter that records `key network method outcome` once per call. */
export interface FakeMeter extends Meter {
  readonly counted: string[]
  readonly durations: (number | undefined)[]
  /** The units of all calls, by the day that they were charged to and the app: `2026-11-21 app_1`. */
  readonly units: Record<string, number>
}

/** Creates a recording meter. */
export const createFakeMeter = (): FakeMeter => {
  const counted: string[] = []
  const durations: (number | undefined)[] = []
  const units: Record<string, number> = {}
  return {
    counted,
    durations,
    units,
    // eslint-disable-next-line max-params -- the signature of Meter
    count: (key, network, method, outcome: Outcome, durationMs, calls = 1, use) => {
      if (use?.day !== undefined) {
        const name = `${use.day} ${key.appId}`
        units[name] = (units[name] ?? 0) + use.units
      }
      for (let call = 0; call < calls; call += 1) counted.push(`${key.id} ${network} ${method} ${outcome}`)
      durations.push(durationMs)
    },
    flush: async () => {},
    close: async () => {},
  }
}
