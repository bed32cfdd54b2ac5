import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import type { MeterOptions } from '../../src/usage/metering/createMeter.ts'
import type { MeteredKey, StoredMeter } from '../../src/usage/metering/meter.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import type { TestDatabase } from '../storage/databases.ts'

/** When each test starts, in milliseconds since 1970: noon UTC. */
export const start: number = Date.UTC(2026, 10, 21, 12)

let keyCount = 0
/** Creates a key that no other test uses. */
export const newKey = (): MeteredKey => {
  keyCount += 1
  return { id: `key_${keyCount}`, appId: `app_${keyCount}`, userId: `usr_${keyCount}` }
}

/** The storage and the meters of one describe block. */
export interface TestMeters {
  readonly storage: Storage
  /** The clock of the meters. Each test starts at `start`. */
  clock: number
  /** Opens a meter that writes and rolls up only when the test calls it. Closed after the test. */
  open(options?: Partial<MeterOptions>): StoredMeter
  countRows(table: string): Promise<number>
  /** Deletes all usage. */
  clear(): Promise<void>
}

/** Opens a storage for the tests of one describe block. */
export const useMeters = (database: TestDatabase): TestMeters => {
  let storage: Storage | undefined
  const getStorage = (): Storage => {
    if (storage === undefined) throw new Error('the storage is opened before the first test')
    return storage
  }
  const opened: StoredMeter[] = []
  const meters: TestMeters = {
    get storage() {
      return getStorage()
    },
    clock: start,
    open: (options = {}) => {
      const meter = createMeter({
        storage: getStorage(),
        now: () => meters.clock,
        flushMs: 60_000,
        rollUpMs: 0,
        ...options,
      })
      opened.push(meter)
      return meter
    },
    countRows: async (table) => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
        getStorage().db.query,
      )
      return Number(rows[0]?.count)
    },
    clear: async () => {
      const { query } = getStorage().db
      for (const table of ['usage_minutes', 'usage_hours', 'usage_days', 'usage_pending'])
        await sql`delete from ${sql.table(table)}`.execute(query)
      await sql`update usage_state set minutes_from = 0, hours_from = 0, days_from = 0, leader = null, leader_until = 0`.execute(
        query,
      )
    },
  }
  beforeAll(async () => {
    storage = await openStorage(await database.create())
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((meter) => meter.close()))
    meters.clock = start
    await meters.clear()
  })
  afterAll(async () => {
    await storage?.close()
    await database.stop()
  })
  return meters
}
