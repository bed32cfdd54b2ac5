import { setTimeout as wait } from 'node:timers/promises'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import type { RedisLink } from '../../src/storage/redis/redisLink.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { createRedisLimits } from '../../src/usage/limits/createRedisLimits.ts'
import type { RedisLimitsOptions } from '../../src/usage/limits/createRedisLimits.ts'
import { createLedger } from '../../src/usage/limits/ledger.ts'
import type { Ledger } from '../../src/usage/limits/ledger.ts'
import type { LimitsEvent, QuotaAccount, QuotaGrant, UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import { getQuota } from './openQuota.ts'

/** An instance of the service, as far as limits are concerned. */
export interface RedisInstance {
  readonly limits: UsageLimits
  readonly ledger: Ledger
  readonly link: RedisLink
  readonly events: LimitsEvent[]
  /** Writes the ledger, as the meter does every 500 ms. */
  readonly flush: () => Promise<void>
  take(account: QuotaAccount, calls?: number, weights?: readonly number[]): Promise<QuotaGrant>
  close(): Promise<void>
}

/**
 * Opens an instance, once Redis is connected. It waits for Redis as long as a busy machine may take; a test of patience gives its own.
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
  const limits = createRedisLimits({ redis: link, rows, ledger, flush, onEvent, patienceMs: 60_000, ...options })
  return {
    limits,
    ledger,
    link,
    events,
    flush,
    take: async (account, calls = 1, weights) =>
      getQuota(await limits.take({ id: 'key_1', rate: undefined, account, calls, passed: calls, weights })),
    close: async () => {
      await limits.close()
      await link.close()
    },
  }
}
