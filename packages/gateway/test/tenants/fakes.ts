import { createRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import type { RateLimiter } from '../../src/usage/rateLimit/rateLimiter.ts'
import type { Meter, Outcome } from '../../src/usage/metering/meter.ts'
import type { Quota, QuotaAccount, QuotaGrant } from '../../src/usage/quota/quota.ts'

const dayMs = 86_400_000

/** A rate limiter in this process, which answers at once or by a promise, as one that asks Redis does. */
export const rates = ({ now, later = false }: { now: () => number; later?: boolean }): RateLimiter => {
  const limiter = createRateLimiter({ now })
  return {
    take: (id, limits, calls) => {
      const decision = limiter.take(id, limits, calls)
      return later ? Promise.resolve(decision) : decision
    },
    peek: limiter.peek,
  }
}

/** A quota in memory, and what it was asked. */
export interface FakeQuota extends Quota {
  readonly used: (id: string) => number
  /** All that was given back. */
  readonly givenBack: number[]
  /** How it answers: at once, by a promise, or not at all. */
  mode: 'now' | 'later' | 'gone'
}

/** Makes a quota in memory. */
export const fakeQuota = ({ now }: { now: () => number }): FakeQuota => {
  const used = new Map<string, number>()
  const take = (account: QuotaAccount, items: number): QuotaGrant => {
    const before = used.get(account.id) ?? 0
    const limit = account.perDay ?? account.perMonth
    const granted = limit === null ? items : Math.min(items, Math.max(0, limit - before))
    used.set(account.id, before + granted)
    const start = Math.floor(now() / dayMs) * dayMs
    const date = new Date(start)
    return {
      granted,
      ...(granted < items ? { rejectedBy: account.perDay === null ? ('month' as const) : ('day' as const) } : {}),
      limit,
      remaining: limit === null ? null : limit - before - granted,
      resetAtMs: account.perDay === null ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) : start + dayMs,
      account,
      day: date.toISOString().slice(0, 10),
    }
  }
  const givenBack: number[] = []
  const quota: FakeQuota = {
    mode: 'now',
    used: (id) => used.get(id) ?? 0,
    givenBack,
    take: (account, items) => {
      if (quota.mode === 'gone') return Promise.reject(new Error('the database is gone'))
      const grant = take(account, items)
      return quota.mode === 'later' ? new Promise((resolve) => setImmediate(resolve, grant)) : grant
    },
    giveBack: ({ account }, items) => {
      givenBack.push(items)
      used.set(account.id, (used.get(account.id) ?? 0) - items)
    },
    usage: () => Promise.reject(new Error('not asked here')),
    close: async () => {},
  }
  return quota
}

/** What was metered: `key network method outcome`, once for each item. */
export interface FakeMeter extends Meter {
  readonly counted: string[]
  readonly durations: number[]
}

/** Makes a meter that notes what it is told. */
export const fakeMeter = (): FakeMeter => {
  const counted: string[] = []
  const durations: number[] = []
  return {
    counted,
    durations,
    // eslint-disable-next-line max-params -- as a meter takes it
    count: (key, network, method, outcome: Outcome, durationMs, items = 1) => {
      for (let item = 0; item < items; item += 1) counted.push(`${key.id} ${network} ${method} ${outcome}`)
      durations.push(durationMs)
    },
    flush: async () => {},
    close: async () => {},
  }
}
