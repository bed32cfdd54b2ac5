import { describe, expect, test } from 'vitest'
import { createReadActivity } from '../../src/usage/metering/createReadActivity.ts'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import { createReadTraffic } from '../../src/usage/metering/createReadTraffic.ts'
import { toOldKeyId } from '../../src/storage/toOldKeyId.ts'
import type { MeteredKey } from '../../src/usage/metering/meter.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { dayMs, hourMs, minuteMs } from '../../src/lib/time.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { newKey, start, useMeters } from './useMeters.ts'

describe.each(suiteDatabases)('the traffic of a rotated key on $name', (database) => {
  const meters = useMeters(database)
  const from = start - 23 * hourMs
  const rotatedAt = start - 5 * hourMs + 20 * minuteMs + 30_000
  const read = async (key: MeteredKey, rotated: number | null) =>
    createReadTraffic(meters)({ keyId: key.id, rotatedAt: rotated, from, hours: 24 })
  const addUp = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

  test('is that of the old key before the rotation, and of each key after it', async () => {
    const key = newKey()
    const oldKey = { ...key, id: toOldKeyId(key.id) }
    const meter = meters.open()
    const count = (counted: MeteredKey, at: number, calls: number): void => {
      meters.clock = at
      meter.count(counted, 'mainnet', 'eth_call', 'succeeded', 1, calls)
    }
    // The old key of an earlier rotation, which is gone.
    count(oldKey, start - 20 * hourMs, 1_000)
    count(key, start - 10 * hourMs, 100)
    count(key, rotatedAt - minuteMs, 10)
    count(key, rotatedAt + minuteMs, 1)
    count(oldKey, rotatedAt + 2 * minuteMs, 4)
    count(key, start, 2)
    await meter.flush()
    const check = async (): Promise<void> => {
      const { current, old } = await read(key, rotatedAt)
      expect([addUp(current.totals), addUp(old.totals)]).toEqual([3, 114])
      expect([current.totals[18], old.totals[18], old.totals[13]]).toEqual([1, 14, 100])
      expect(current.lastAt).toBe(start)
      expect(old.lastAt).toBe(rotatedAt + 2 * minuteMs - 30_000)
    }
    await check()
    await rollUp(meters.storage, { now: start + 2 * hourMs })
    await check()

    // Totals have the calls with either key.
    const [activity] = await createReadActivity(meters)({ userId: key.userId ?? '', from, hours: 24 })
    expect(addUp(activity?.totals ?? [])).toBe(1_117)
    const period = { from, to: from + dayMs, step: 'hour' } as const
    const metrics = await createReadMetrics(meters)({ subject: { keyId: key.id }, ...period })
    expect(metrics.total).toBe(1_117)
  })

  test('an old key without calls since the rotation was last used before it', async () => {
    const key = newKey()
    const meter = meters.open()
    meters.clock = rotatedAt - 10 * dayMs
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    meters.clock = rotatedAt + 10 * minuteMs
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    await meter.flush()
    expect((await read(key, rotatedAt)).old.lastAt).toBe(rotatedAt - 10 * dayMs - 30_000)
    // The hour and the day of the rotation have calls with the new key, and are not taken for use of the old one.
    await rollUp(meters.storage, { now: start + 2 * dayMs })
    await meters.storage.db.query
      .deleteFrom('usageMinutes')
      .where('at', '<', start - dayMs)
      .execute()
    const { current, old } = await read(key, rotatedAt)
    expect(current.lastAt).toBe(rotatedAt + 10 * minuteMs - 30_000)
    expect(old.lastAt).toBe(Math.floor((rotatedAt - 10 * dayMs) / hourMs) * hourMs)
  })

  test('a new key that nobody has used has no traffic, also right after the rotation', async () => {
    const key = newKey()
    const meter = meters.open()
    meters.clock = rotatedAt - 10_000
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1, 5)
    await meter.flush()
    const { current, old } = await read(key, rotatedAt)
    expect([addUp(current.totals), current.lastAt]).toEqual([0, null])
    expect([addUp(old.totals), old.lastAt]).toEqual([5, rotatedAt - 30_000])
  })

  test('a key that was never rotated has no old traffic', async () => {
    const key = newKey()
    const meter = meters.open()
    meters.clock = start
    meter.count(key, 'mainnet', 'eth_call', 'rate_limited', 1, 3)
    await meter.flush()
    const { current, old } = await read(key, null)
    expect([addUp(current.totals), addUp(current.failures), current.lastAt]).toEqual([3, 3, start])
    expect([addUp(old.totals), old.lastAt]).toEqual([0, null])
  })
})
