import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { createQuota } from '../../src/usage/quota/createQuota.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { StorageOptions } from '../../src/storage/openStorage.ts'

/** What the process is told, as JSON in `KEYRAIL_TEST_USE`: a database's address is a secret, so no argument. */
export interface UseOrder {
  readonly storage: StorageOptions
  readonly userId: string
  readonly perDay: number
  readonly callers: number
  /** How long each caller rests after a call, in milliseconds. */
  readonly pauseMs: number
  readonly now: number
}

// A process that uses a quota until that is used up, and tells of each item that it got and counted, at once.
const order = JSON.parse(process.env['KEYRAIL_TEST_USE'] ?? '') as UseOrder
const storage = await openStorage(order.storage)
const now = (): number => order.now
const quota = createQuota({ storage, now })
const meter = createMeter({ storage, now })
const account = { id: `user:${order.userId}`, perDay: order.perDay, perMonth: null }
const key = { id: `key_${order.userId}`, userId: order.userId }

const call = async (): Promise<void> => {
  for (;;) {
    const { granted } = await quota.take(account, 1)
    if (granted === 0) return
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    // In one go with what it tells of: a kill comes before both or after both, or between them once.
    writeSync(1, `${Date.now()}\n`)
    if (order.pauseMs > 0) await wait(order.pauseMs)
  }
}
await Promise.all(Array.from({ length: order.callers }, call))
await quota.close()
await meter.close()
await storage.close()
