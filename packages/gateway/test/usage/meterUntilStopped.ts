import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { StorageOptions } from '../../src/storage/openStorage.ts'

/** The task of the process, as JSON in `KEYRAIL_TEST_METER`. Not an argument, because the database URL is a secret. */
export interface MeterTask {
  readonly storage: StorageOptions
  readonly keys: number
  /** The time at the start. It passes 40 times as fast, so that minutes end during the test. */
  readonly startAt: number
}

// Counts calls of all keys until SIGTERM, then prints how many it counted of each key.
const { storage: options, keys, startAt } = JSON.parse(process.env['KEYRAIL_TEST_METER'] ?? '') as MeterTask
const storage = await openStorage(options)
const startedAt = performance.now()
const meter = createMeter({
  storage,
  now: () => startAt + Math.round((performance.now() - startedAt) * 40),
  onEvent: (event) => process.stderr.write(`${JSON.stringify(event)}\n`),
})
let counted = 0
const timer = setInterval(() => {
  for (let key = 0; key < keys; key += 1)
    meter.count({ id: `key_${key}`, userId: 'usr_stopped' }, 'mainnet', 'eth_call', 'succeeded', 1)
  counted += 1
}, 10)
process.once('SIGTERM', () => {
  clearInterval(timer)
  void meter
    .close()
    .then(() => storage.close())
    .then(() => process.stdout.write(`${counted}\n`))
})
process.stdout.write('counting\n')
