import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createReadActivity } from '../../src/usage/metering/createReadActivity.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { dayMs, hourMs, minuteMs } from '../../src/lib/time.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { newKey, start, useMeters } from './useMeters.ts'

describe.each(suiteDatabases)('activity on $name', (database) => {
  const meters = useMeters(database)
  const { open } = meters
  const from = start - 23 * hourMs
  const read = async (userId: string) => createReadActivity(meters)({ userId, from, hours: 24 })

  test('has the requests of each key by hour, and its last use to the minute', async () => {
    const [app, key] = [newKey(), { id: 'key_other', userId: newKey().userId }]
    const sibling = { ...key, userId: app.userId }
    const meter = open()
    meters.clock = from + 30 * minuteMs
    meter.count(app, 'mainnet', 'eth_call', 'succeeded', 1, 5)
    meter.count(app, 'testnet', 'eth_call', 'rate_limited', 1, 2)
    meter.count(app, 'testnet', 'eth_subscription', 'succeeded', undefined, 9)
    meter.count(app, 'testnet', 'websocket', 'succeeded', undefined)
    meters.clock = start + minuteMs
    meter.count(app, 'mainnet', 'eth_call', 'nodeError', 1)
    meter.count(app, 'mainnet', 'eth_call', 'reverted', 1)
    meter.count(sibling, 'mainnet', 'eth_call', 'succeeded', 1)
    meter.count(newKey(), 'mainnet', 'eth_call', 'succeeded', 1)
    await meter.flush()
    const before = await read(app.userId ?? '')
    expect(before.map(({ keyId }) => keyId).toSorted()).toEqual([app.id, sibling.id].toSorted())
    const activity = before.find(({ keyId }) => keyId === app.id)
    expect(activity).toMatchObject({ appId: app.appId, lastAt: start + minuteMs })
    expect(activity?.totals).toEqual([7, ...Array.from({ length: 22 }, () => 0), 2])
    expect(activity?.failures).toEqual([2, ...Array.from({ length: 22 }, () => 0), 1])
    expect(before.find(({ keyId }) => keyId === sibling.id)).toMatchObject({ appId: null, lastAt: start + minuteMs })

    // The same once the hours are rolled up, and also without their minutes.
    await rollUp(meters.storage, { now: start + 30 * minuteMs })
    expect(await read(app.userId ?? '')).toEqual(before)
    await sql`delete from usage_minutes where at < ${start}`.execute(meters.storage.db.query)
    expect(await read(app.userId ?? '')).toEqual(before)
  })

  test('finds the last use of a key that was not used for days, by hour or day', async () => {
    const key = newKey()
    const meter = open()
    meters.clock = start - 10 * dayMs + 5 * minuteMs
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    await meter.flush()
    await rollUp(meters.storage, { now: start })
    const lastAts: (number | null | undefined)[] = []
    for (const table of ['usage_minutes', 'usage_hours', 'usage_days']) {
      const [activity] = await read(key.userId ?? '')
      expect(activity?.totals.every((total) => total === 0)).toBe(true)
      lastAts.push(activity?.lastAt)
      await sql`delete from ${sql.table(table)}`.execute(meters.storage.db.query)
    }
    const at = start - 10 * dayMs
    expect(lastAts).toEqual([at + 5 * minuteMs, at, at - 12 * hourMs])
    expect((await read(key.userId ?? ''))[0]?.lastAt).toBeNull()
  })
})
