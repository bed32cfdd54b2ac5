import type { RedisQuota } from './redisQuota.ts'

/** Quotas that Redis decided on lately: a failover may have lost what it returned. */
export interface SeenQuotas {
  /** Adds a quota that Redis has decided on. @param now - By the monotonic clock, in milliseconds. */
  add(quota: string, state: RedisQuota, now: number): void
  /** Returns the quotas of the last 5 to 10 seconds. */
  list(): ReadonlyMap<string, RedisQuota>
}

const generationMs = 5_000

/** Creates the set of quotas that were seen lately, which is empty. */
export const createSeenQuotas = (): SeenQuotas => {
  let young = new Map<string, RedisQuota>()
  let old = young
  let youngSince = 0
  return {
    add: (quota, state, now) => {
      if (now - youngSince >= generationMs) {
        old = young
        young = new Map()
        youngSince = now
      }
      young.set(quota, state)
    },
    list: () => new Map([...old, ...young]),
  }
}
