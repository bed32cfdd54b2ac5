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

// Uses up a quota. Prints `call` right after one was granted and counted, and `written N` once the first N of them are in the storage.
const task = JSON.parse(process.env['KEYRAIL_TEST_USE'] ?? '') as UsageTask
const storage = await openStorage(task.storage)
const now = (): number => task.now
const instance = task.redisUrl === undefined ? undefined : await openRedisInstance(task.redisUrl, storage)
const local = instance ?? openQuota({ storage, now })
let printed = 0
const write: typeof storage.write = async (steps, options) => {
  const before = printed
  const results = await storage.write(steps, options)
  writeSync(1, `written ${before}\n`)
  return results
}
const meter = createMeter({ storage: { ...storage, write }, now, alongside: instance?.ledger })
const quota = { id: `user:${task.userId}`, perDay: task.perDay, perMonth: null }
const key = { id: `key_${task.userId}`, userId: task.userId }

const call = async (): Promise<void> => {
  for (;;) {
    const { granted } = await local.take(quota, 1)
    if (granted === 0) return
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    // Synchronous, right after the count: a kill between the two can hit only one call.
    writeSync(1, 'call\n')
    printed += 1
    if (task.pauseMs > 0) await wait(task.pauseMs)
  }
}
await Promise.all(Array.from({ length: task.callers }, call))
await meter.close()
await local.close()
await storage.close()
