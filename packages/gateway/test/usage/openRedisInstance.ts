import { setTimeout as wait } from 'node:timers/promises'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import type { RedisLink } from '../../src/storage/redis/redisLink.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { createRedisLimits } from '../../src/usage/limits/createRedisLimits.ts'
import type { RedisLimitsOptions } from '../../src/usage/limits/createRedisLimits.ts'
import { createLedger } from '../../src/usage/limits/ledger.ts'
import type { Ledger } from '../../src/usage/limits/ledger.ts'
import type { LimitsEvent, Quota, QuotaGrant, UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import { createPassableClock, getQuota, patienceMs } from './openQuota.ts'

/** An instance of the service, as far as limits are concerned. */
export interface RedisInstance {
  readonly limits: UsageLimits
  readonly ledger: Ledger
  readonly link: RedisLink
  readonly events: LimitsEvent[]
  /** Writes the ledger, as the meter does every 500 ms. */
  readonly flush: () => Promise<void>
  /** Lets the requests that wait now have waited too long. */
  readonly passPatience: () => void
  take(quota: Quota, calls?: number, weights?: readonly number[]): Promise<QuotaGrant>
  /** Takes units of an instance that waits for Redis for {@link shortMs} only, and repeats that as long as a busy machine takes longer. */
  takeUntilGranted(quota: Quota, calls: number): Promise<void>
  close(): Promise<void>
}

/** For how long an instance waits for Redis in tests in which Redis must not decide later. */
export const shortMs = 300
/** Waits until Redis rejects the requests that were sent before with `shortMs`: the first reply may have taken as long. */
export const untilLate = (): Promise<void> => wait(3 * shortMs)

/**
 * Opens an instance, once Redis is connected. It waits for Redis as long as a busy machine may take; a test of patience passes that time.
 */
export const openRedisInstance = async (
  url: string,
  storage: Storage,
  options: Partial<RedisLimitsOptions> = {},
): Promise<RedisInstance> => {
  const link = openRedis(url)
  const isConnected = (): Promise<boolean> =>
    link.ping().then(
      () => true,
      () => false,
    )
  while (!(await isConnected())) await wait(5)
  const rows = createAccountDays(storage)
  const ledger = createLedger(rows)
  const events: LimitsEvent[] = []
  const flush = async (): Promise<void> => {
    for (let write = ledger.take(); write !== undefined; write = ledger.take()) await storage.write(write.steps)
  }
  const onEvent = (event: LimitsEvent): void => void events.push(event)
  const { clock, passPatience } = createPassableClock()
  const limits = createRedisLimits({ redis: link, rows, ledger, flush, onEvent, patienceMs, clock, ...options })
  const take: RedisInstance['take'] = async (quota, calls = 1, weights) =>
    getQuota(await limits.take({ id: 'key_1', rate: undefined, quota, calls, passed: calls, weights }))
  return {
    limits,
    ledger,
    link,
    events,
    flush,
    passPatience,
    take,
    takeUntilGranted: async (quota, calls) => {
      while ((await take(quota, calls).catch(() => undefined))?.granted !== calls) await wait(5)
      // If Redis counted as lost, it is back.
      while (events.length % 2 > 0) await wait(5)
      events.length = 0
    },
    close: async () => {
      await limits.close()
      await link.close()
    },
  }
}

/** Gets what an account has used today. */
export const getUsed = async ({ limits }: RedisInstance, quota: Quota): Promise<number> =>
  (await limits.usage(quota)).day.used

/** The instances of a test. */
export interface RedisInstances {
  open(options?: Partial<RedisLimitsOptions>): Promise<RedisInstance>
  closeAll(): Promise<void>
}

/** Creates an opener of instances, and closes those that a test has opened. */
export const createRedisInstances = (at: () => { readonly url: string; readonly storage: Storage }): RedisInstances => {
  const opened: RedisInstance[] = []
  return {
    open: async (options) => {
      const { url, storage } = at()
      const instance = await openRedisInstance(url, storage, options)
      opened.push(instance)
      return instance
    },
    closeAll: async () => {
      await Promise.all(opened.splice(0).map((instance) => instance.close()))
    },
  }
}
