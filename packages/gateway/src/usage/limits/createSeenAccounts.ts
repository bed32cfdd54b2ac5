import type { RedisAccount } from './redisAccount.ts'

/** Accounts that Redis decided on lately: a failover may have lost what it returned. */
export interface SeenAccounts {
  /** Adds an account that Redis has decided on. @param now - By the monotonic clock, in milliseconds. */
  add(account: string, state: RedisAccount, now: number): void
  /** Returns the accounts of the last 5 to 10 seconds. */
  list(): ReadonlyMap<string, RedisAccount>
}

const generationMs = 5_000

/** Creates the set of accounts that were seen lately, which is empty. */
export const createSeenAccounts = (): SeenAccounts => {
  let young = new Map<string, RedisAccount>()
  let old = young
  let youngSince = 0
  return {
    add: (account, state, now) => {
      if (now - youngSince >= generationMs) {
        old = young
        young = new Map()
        youngSince = now
      }
      young.set(account, state)
    },
    list: () => new Map([...old, ...young]),
  }
}
