import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { StorageOptions } from '../../src/storage/openStorage.ts'
import { openRedisInstance } from './openRedisInstance.ts'
import { openQuota } from './openQuota.ts'

/** The task of the process, as JSON in `KEYRAIL_TEST_USE`. Not an argument, because the database URL is a secret. */
export interface UsageTask {
  readonly storage: StorageOptions
  /** @default the limits of one machine */
  readonly redisUrl?: string
  readonly userId: string
  readonly perDay: number
  readonly callers: number
  /** How long each caller pauses after a call, in milliseconds. */
  readonly pauseMs: number
  readonly now: number
}

// Uses up a quota, and prints each call right after it was granted and counted.
const task = JSON.parse(process.env['KEYRAIL_TEST_USE'] ?? '') as UsageTask
const storage = await openStorage(task.storage)
const now = (): number => task.now
// A busy machine must not end the process: only the test kills it.
const patienceMs = 60_000
const instance =
  task.redisUrl === undefined ? undefined : await openRedisInstance(task.redisUrl, storage, { patienceMs })
const quota = instance ?? openQuota({ storage, now, patienceMs })
const meter = createMeter({ storage, now, alongside: instance?.ledger })
const account = { id: `user:${task.userId}`, perDay: task.perDay, perMonth: null }
const key = { id: `key_${task.userId}`, userId: task.userId }

const call = async (): Promise<void> => {
  for (;;) {
    const { granted } = await quota.take(account, 1)
    if (granted === 0) return
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    // Synchronous, right after the count: a kill between the two can hit only one call.
    writeSync(1, `${Date.now()}\n`)
    if (task.pauseMs > 0) await wait(task.pauseMs)
  }
}
await Promise.all(Array.from({ length: task.callers }, call))
await meter.close()
await quota.close()
await storage.close()
