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

/** An instance of the service on a cluster, as far as limits are concerned. */
export interface TestInstance {
  readonly limits: UsageLimits
  readonly ledger: Ledger
  readonly link: RedisLink
  readonly events: LimitsEvent[]
  /** Writes the ledger. Nothing else does. */
  readonly flush: () => Promise<void>
  take(account: QuotaAccount, calls?: number, weights?: readonly number[]): Promise<QuotaGrant>
  /** Closes it without writing the ledger. */
  close(): Promise<void>
}

/** Opens an instance and waits until it is connected to Redis. */
export const openInstance = async ({
  redisUrl,
  storage,
  ...options
}: Partial<RedisLimitsOptions> & { redisUrl: string; storage: Storage }): Promise<TestInstance> => {
  const link = openRedis(redisUrl)
  while (!link.isReady()) await wait(5)
  const rows = createAccountDays(storage)
  const ledger = createLedger(rows)
  const events: LimitsEvent[] = []
  const flush = async (): Promise<void> => {
    for (let write = ledger.take(); write !== undefined; write = ledger.take()) {
      await storage.write(write.steps)
      write.written()
    }
  }
  const onEvent = (event: LimitsEvent): void => void events.push(event)
  const limits = createRedisLimits({ redis: link, rows, ledger, flush, onEvent, ...options })
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
