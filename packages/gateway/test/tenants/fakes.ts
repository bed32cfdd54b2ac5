import { createRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../../src/usage/rateLimit/rateLimiter.ts'
import type { Meter, Outcome } from '../../src/usage/metering/meter.ts'
import type { Quota, QuotaAccount, QuotaGrant } from '../../src/usage/quota/quota.ts'

const dayMs = 86_400_000

/** Creates a local rate limiter that returns plain values, or promises as the one with Redis does. */
export const createRates = ({ now, later = false }: { now: () => number; later?: boolean }): RateLimiter => {
  const limiter = createRateLimiter({ now })
  return {
    take: (id, limits, calls) => {
      const decision = limiter.take(id, limits, calls)
      return later ? Promise.resolve(decision) : decision
    },
    peek: limiter.peek,
  }
}

/** A quota in memory. */
export interface FakeQuota extends Quota {
  readonly used: (id: string) => number
  /** The number of calls of each `giveBack`. */
  readonly givenBack: number[]
  /** Whether `take` returns a plain value, a promise, or a rejected promise. */
  mode: 'sync' | 'async' | 'unavailable'
}

/** Creates a quota in memory. */
export const createFakeQuota = ({ now }: { now: () => number }): FakeQuota => {
  const used = new Map<string, number>()
  const take = (account: QuotaAccount, calls: number): QuotaGrant => {
    const before = used.get(account.id) ?? 0
    const limit = account.perDay ?? account.perMonth
    const granted = limit === null ? calls : Math.min(calls, Math.max(0, limit - before))
    used.set(account.id, before + granted)
    const start = Math.floor(now() / dayMs) * dayMs
    const date = new Date(start)
    return {
      granted,
      ...(granted < calls ? { rejectedBy: account.perDay === null ? ('month' as const) : ('day' as const) } : {}),
      limit,
      remaining: limit === null ? null : limit - before - granted,
      resetAtMs: account.perDay === null ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) : start + dayMs,
      account,
      day: date.toISOString().slice(0, 10),
    }
  }
  const givenBack: number[] = []
  const quota: FakeQuota = {
    mode: 'sync',
    used: (id) => used.get(id) ?? 0,
    givenBack,
    take: (account, calls) => {
      if (quota.mode === 'unavailable') return Promise.reject(new Error('the database is unreachable'))
      const grant = take(account, calls)
      return quota.mode === 'async' ? new Promise((resolve) => setImmediate(resolve, grant)) : grant
    },
    giveBack: ({ account }, calls) => {
      givenBack.push(calls)
      used.set(account.id, (used.get(account.id) ?? 0) - calls)
    },
    usage: () => Promise.reject(new Error('not implemented')),
    close: async () => {},
  }
  return quota
}

/** A meter that records `key network method outcome` once per call. */
export interface FakeMeter extends Meter {
  readonly counted: string[]
  readonly durations: number[]
}

/** Creates a recording meter. */
export const createFakeMeter = (): FakeMeter => {
  const counted: string[] = []
  const durations: number[] = []
  return {
    counted,
    durations,
    // eslint-disable-next-line max-params -- the signature of Meter
    count: (key, network, method, outcome: Outcome, durationMs, calls = 1) => {
      for (let call = 0; call < calls; call += 1) counted.push(`${key.id} ${network} ${method} ${outcome}`)
      durations.push(durationMs)
    },
    flush: async () => {},
    close: async () => {},
  }
}
