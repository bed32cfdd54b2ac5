import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import type { MeterEvent, StoredMeter } from '../../src/usage/metering/meter.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { takeLease } from '../../src/storage/lease.ts'
import { dayMs, hourMs, minuteMs } from '../../src/lib/time.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import { start, useMeters } from './useMeters.ts'

describe.each(databases)('the roll-up on $name', (database) => {
  const meters = useMeters(database)
  const { open } = meters
  const count = (meter: StoredMeter, key: string, calls = 1): void =>
    meter.count({ id: key }, 'mainnet', 'eth_call', 'succeeded', 5, calls)
  const readTotal = async (key: string, step: 'minute' | 'hour' | 'day' = 'hour'): Promise<number> =>
    (await createReadMetrics(meters)({ subject: { keyId: key }, from: start, to: start + dayMs, step })).total
  const readHours = async (): Promise<{ keyId: string; total: number }[]> =>
    meters.storage.db.query.selectFrom('usageHours').select(['keyId', 'total']).orderBy('keyId').execute()
  const readLeader = async (): Promise<string | null> =>
    (await meters.storage.db.query.selectFrom('usageState').select('leader').executeTakeFirstOrThrow()).leader

  test('ends beside 20 writers that write late counts all the time, and the next one has all of them', async () => {
    const writers = Array.from({ length: 20 }, () => open())
    const keys = Array.from({ length: 40 }, (_, index) => `key_${index}`)
    for (const writer of writers) for (const key of keys) count(writer, key)
    await Promise.all(writers.map((writer) => writer.flush()))
    let counted = 20
    let isDone = false
    let writes = 0
    const write = async (writer: StoredMeter): Promise<void> => {
      while (!isDone) {
        for (const key of keys) count(writer, key)
        counted += 1
        await writer.flush()
        writes += 1
      }
    }
    // The meters.clock of the writers is in the hour that is rolled up. So each write marks it again.
    const written = Promise.all(writers.map(write))
    try {
      for (let round = 0; round < 3; round += 1) await rollUp(meters.storage, { now: start + 2 * hourMs })
      expect((await readHours()).map(({ keyId }) => keyId)).toEqual(keys.toSorted())
      expect(writes).toBeGreaterThan(0)
    } finally {
      isDone = true
      await written
    }
    await rollUp(meters.storage, { now: start + 2 * hourMs })
    expect(await readHours()).toEqual(keys.toSorted().map((keyId) => ({ keyId, total: counted })))
  })

  test('does not block writers at any step', async () => {
    const meter = open()
    for (const key of ['key_1', 'key_2']) count(meter, key)
    await meter.flush()
    let writes = 0
    let isWaiting = false
    // Between its steps the roll-up waits for a writer. If it had locked what the writer needs, neither would end.
    const stalling: Pick<Storage, 'db' | 'write'> = {
      db: meters.storage.db,
      write: async (...step) => {
        const rows = await meters.storage.write(...step)
        count(meter, 'key_1')
        isWaiting = true
        await meter.flush()
        isWaiting = false
        writes += 1
        return rows
      },
    }
    await rollUp(stalling, { now: start + 2 * hourMs })
    expect([writes, isWaiting]).toEqual([2, false])
    // Both late counts came after the roll-up had read the minute.
    expect(await readHours()).toEqual([
      { keyId: 'key_1', total: 1 },
      { keyId: 'key_2', total: 1 },
    ])
    expect(await readTotal('key_1')).toBe(3)
    await rollUp(meters.storage, { now: start + 2 * hourMs })
    expect(await readHours()).toEqual([
      { keyId: 'key_1', total: 3 },
      { keyId: 'key_2', total: 1 },
    ])
  })

  test('never replaces a row by an older one, if two instances roll up at once', async () => {
    const meter = open()
    count(meter, 'key_1')
    await meter.flush()
    let isFirst = true
    const slow: Pick<Storage, 'db' | 'write'> = {
      db: meters.storage.db,
      write: async (...step) => {
        if (isFirst) {
          isFirst = false
          // It has read one call. Now another instance rolls up a second one.
          count(meter, 'key_1')
          await meter.flush()
          await rollUp(meters.storage, { now: start + 2 * hourMs })
        }
        return meters.storage.write(...step)
      },
    }
    await rollUp(slow, { now: start + 2 * hourMs })
    expect(await readHours()).toEqual([{ keyId: 'key_1', total: 2 }])
    expect(await readTotal('key_1')).toBe(2)
  })

  test('skips a malformed row, and reports it once', async () => {
    const meter = open()
    for (const key of ['key_1', 'key_2']) count(meter, key)
    await meter.flush()
    meters.clock += minuteMs
    for (const key of ['key_1', 'key_2']) count(meter, key)
    await meter.flush()
    await sql`update usage_minutes set counts = '[[' where key_id = 'key_1' and at = ${start}`.execute(
      meters.storage.db.query,
    )
    expect(await readTotal('key_1')).toBe(1)
    meters.clock = start + 2 * hourMs
    const events: MeterEvent[] = []
    const leader = open({ rollUpMs: 20, onEvent: (event) => events.push(event) })
    await expect.poll(readHours).toEqual([
      { keyId: 'key_1', total: 1 },
      { keyId: 'key_2', total: 2 },
    ])
    await expect.poll(() => leader.status().skippedRows).toBe(1)
    await leader.close()
    expect(events).toEqual([{ event: 'meterRowsSkipped', table: 'usage_minutes', at: start, rows: 1 }])
    expect(await readTotal('key_1')).toBe(1)
  })

  test('is done by one instance, and by another one once that is closed', async () => {
    const [one, other] = [open({ rollUpMs: 20 }), open({ rollUpMs: 20 })]
    await expect.poll(readLeader).not.toBeNull()
    const leader = await readLeader()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await readLeader()).toBe(leader)
    await one.close()
    await expect.poll(readLeader).not.toBeNull()
    await other.close()
    expect(await readLeader()).toBeNull()
  })

  test('is taken over from an instance that was killed, or whose meters.clock was far ahead', async () => {
    const take = (leader: string, now: number): Promise<boolean> =>
      takeLease(meters.storage, 'usage_state', { leader, now, leaseMs: 1_000 })
    expect(await take('one', start)).toBe(true)
    expect(await take('other', start + 999)).toBe(false)
    expect(await take('one', start + 500)).toBe(true)
    expect(await take('other', start + 1_499)).toBe(false)
    expect(await take('other', start + 1_500)).toBe(true)
    expect(await take('one', start + 1_600)).toBe(false)
    expect(await take('one', start - dayMs)).toBe(true)
  })

  test('reports how far it is behind, also on an instance that does not do it', async () => {
    const meter = open()
    count(meter, 'key_1')
    await meter.flush()
    meters.clock = start + 3 * hourMs
    await takeLease(meters.storage, 'usage_state', { leader: 'other', now: meters.clock, leaseMs: 50 })
    const events: MeterEvent[] = []
    const follower = open({ rollUpMs: 20, onEvent: (event) => events.push(event) })
    await expect.poll(() => follower.status().rollUpLagMs).toBe(2 * hourMs)
    meters.clock += 50
    await expect.poll(() => follower.status().rollUpLagMs).toBe(0)
    expect(await readTotal('key_1')).toBe(1)
    expect(events).toEqual([])
  })

  test('reports the first of several failures and their end, and makes up for them', async () => {
    const meter = open()
    count(meter, 'key_1')
    await meter.flush()
    meters.clock = start + 3 * hourMs
    await sql`alter table usage_hours rename to usage_hours_gone`.execute(meters.storage.db.query)
    const events: MeterEvent[] = []
    const leader = open({ rollUpMs: 20, onEvent: (event) => events.push(event) })
    await expect.poll(() => leader.status().failures.rollUp).toBeGreaterThan(2)
    await sql`alter table usage_hours_gone rename to usage_hours`.execute(meters.storage.db.query)
    await expect.poll(readHours).toEqual([{ keyId: 'key_1', total: 1 }])
    await expect.poll(() => events.length).toBe(2)
    const { failures } = leader.status()
    expect(failures.write).toBe(0)
    expect(events).toEqual([
      { event: 'meterFailed', work: 'rollUp', state: 'started', code: expect.any(String) as string },
      { event: 'meterFailed', work: 'rollUp', state: 'ended', failures: failures.rollUp },
    ])
  })
})
