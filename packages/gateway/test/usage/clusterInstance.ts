import { setTimeout as wait } from 'node:timers/promises'
import { openStorage } from '../../src/storage/openStorage.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { createLedger } from '../../src/usage/limits/ledger.ts'
import { createRedisLimits } from '../../src/usage/limits/createRedisLimits.ts'
import type { LimitsEvent, UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import type { MeterEvent, StoredMeter } from '../../src/usage/metering/meter.ts'

/** The parts of one instance of a cluster that decide on limits and count, as `createService` wires them. */
export interface ClusterInstance {
  readonly limits: UsageLimits
  readonly meter: StoredMeter
  /** How many commands were sent to Redis. */
  readonly commands: () => number
  /** How many accounts were read from the ledger, because Redis did not have them. */
  readonly seeds: () => number
  /** Runs a query, so that the pool has an open connection. */
  readonly ping: () => Promise<void>
  /** Writes what is buffered and closes the connections. */
  readonly close: () => Promise<void>
}

/** Where an instance connects to. Both are secrets. */
export interface ClusterStores {
  readonly databaseUrl: string
  readonly redisUrl: string
}

/** Opens an instance on PostgreSQL and Redis, and waits until both are connected. */
export const openClusterInstance = async (
  { databaseUrl, redisUrl }: ClusterStores,
  options: { readonly outageGrant: number; readonly onEvent: (event: LimitsEvent | MeterEvent) => void },
): Promise<ClusterInstance> => {
  const { outageGrant, onEvent } = options
  const storage = await openStorage({ databaseUrl })
  const redis = openRedis(redisUrl)
  while (!redis.isReady()) await wait(5)
  let commands = 0
  const { client } = redis
  const counted: { sendCommand: (...command: unknown[]) => unknown } = client as never
  const send = counted.sendCommand.bind(client)
  counted.sendCommand = (...command) => {
    commands += 1
    return send(...command)
  }
  const rows = createAccountDays(storage)
  const ledger = createLedger(rows)
  const meter = createMeter({ storage, alongside: ledger, onEvent })
  let seeds = 0
  const limits = createRedisLimits({
    redis,
    rows: {
      read: (accounts, day) => {
        seeds += accounts.length
        return rows.read(accounts, day)
      },
    },
    ledger,
    flush: () => meter.flush(),
    outageGrant,
    onEvent,
  })
  return {
    limits,
    meter,
    commands: () => commands,
    seeds: () => seeds,
    ping: async () => {
      await storage.ping()
    },
    close: async () => {
      await limits.close()
      await meter.close()
      await redis.close()
      await storage.close()
    },
  }
}
