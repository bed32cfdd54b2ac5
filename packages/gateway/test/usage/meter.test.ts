import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import type { MeterOptions } from '../../src/usage/metering/createMeter.ts'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import type { Meter, MeteredKey, MeterEvent, Outcome } from '../../src/usage/metering/meter.ts'
import { pruneUsage } from '../../src/usage/metering/pruneUsage.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { readState } from '../../src/usage/metering/usageRows.ts'
import { dayMs, hourMs, minuteMs } from '../../src/usage/metering/usageTime.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { databases } from '../storage/databases.ts'

const start = Date.UTC(2026, 10, 21, 12)

let keyCount = 0
const newKey = (): MeteredKey => {
  keyCount += 1
  return { id: `key_${keyCount}`, appId: `app_${keyCount}`, userId: `usr_${keyCount}` }
}

describe.each(databases)('metering on $name', (database) => {
  let storage: Storage
  let clock = start
  const opened: Meter[] = []
  const open = (options: Partial<MeterOptions> = {}): Meter => {
    const meter = createMeter({ storage, now: () => clock, flushMs: 60_000, rollUpMs: 0, ...options })
    opened.push(meter)
    return meter
  }
  const countRows = async (table: string): Promise<number> =>
    Number(
      (await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(storage.db.query))
        .rows[0]?.count,
    )

  const clear = async (): Promise<void> => {
    for (const table of ['usage_minutes', 'usage_hours', 'usage_days', 'usage_pending'])
      await sql`delete from ${sql.table(table)}`.execute(storage.db.query)
    await sql`update usage_state set minutes_from = 0, hours_from = 0, days_from = 0, leader = null, leader_until = 0`.execute(
      storage.db.query,
    )
  }

  beforeAll(async () => {
    storage = await openStorage(await database.create())
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((meter) => meter.close().catch(() => {})))
    clock = start
    await clear()
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })
  const minutes = (key: MeteredKey, from = start - hourMs, to = start + hourMs) =>
    createReadMetrics({ storage })({ subject: { keyId: key.id }, from, to, step: 'minute' })

  test('metrics have the counts by step, method, outcome and network, for a key, an app and a user', async () => {
    const key = newKey()
    const sibling = { ...newKey(), userId: key.userId }
    const meter = open()
    for (let ms = 1; ms <= 100; ms += 1) meter.count(key, 'mainnet', 'eth_call', 'succeeded', ms)
    meter.count(key, 'testnet', 'eth_getLogs', 'nodeError', 200)
    clock += minuteMs
    meter.count(key, 'testnet', 'eth_getLogs', 'rate_limited', 0.01)
    meter.count(key, 'testnet', 'other', 'method_not_found', 0.01)
    meter.count(sibling, 'testnet', 'eth_call', 'succeeded', 1)
    await meter.flush()
    const metrics = await minutes(key)
    expect(metrics).toMatchObject({ total: 103, succeeded: 100, successRate: 100 / 103 })
    expect(metrics.series.filter(({ total }) => total > 0)).toEqual([
      { at: start, total: 101, succeeded: 100, p50: expect.any(Number) as number, p95: expect.any(Number) as number },
      { at: start + minuteMs, total: 2, succeeded: 0, p50: null, p95: null },
    ])
    expect(metrics.series).toHaveLength(120)
    expect(metrics.byMethod.map(({ method, total, succeeded }) => [method, total, succeeded])).toEqual([
      ['eth_call', 100, 100],
      ['eth_getLogs', 2, 0],
      ['other', 1, 0],
    ])
    expect(metrics.byOutcome).toEqual([
      { outcome: 'succeeded', total: 100 },
      { outcome: 'nodeError', total: 1 },
      { outcome: 'rate_limited', total: 1 },
      { outcome: 'method_not_found', total: 1 },
    ])
    expect(metrics.byNetwork).toEqual([
      { network: 'testnet', total: 3, succeeded: 0 },
      { network: 'mainnet', total: 100, succeeded: 100 },
    ])
    // Within a bucket of the exact percentiles: 50.5, 90.9, 95.95 and 100.
    const { p50, p90, p95, p99 } = metrics.latencyMs
    for (const [estimate, exact] of [
      [p50, 51],
      [p90, 91],
      [p95, 96],
      [p99, 100],
    ] as const)
      expect(Math.abs((estimate ?? 0) / exact - 1)).toBeLessThan(0.19)

    const read = createReadMetrics({ storage })
    const span = { from: start, to: start + hourMs, step: 'hour' } as const
    expect(await read({ subject: { appId: key.appId ?? '' }, ...span })).toMatchObject({ total: 103 })
    expect(await read({ subject: { userId: key.userId ?? '' }, ...span })).toMatchObject({ total: 104 })
    expect(await read({ subject: { keyId: 'key_none' }, ...span })).toMatchObject({
      total: 0,
      successRate: null,
      latencyMs: { p50: null, p90: null, p95: null, p99: null },
      series: [{ at: start, total: 0, succeeded: 0, p50: null, p95: null }],
    })
    await expect(read({ subject: { keyId: key.id }, from: 5, to: 5 - minuteMs, step: 'minute' })).rejects.toThrow(
      RangeError,
    )
    await expect(read({ subject: { keyId: key.id }, from: 0, to: start, step: 'minute' })).rejects.toThrow(RangeError)
  })

  test('counts each call once across repeated writes and several processes', async () => {
    const key = newKey()
    const [one, other] = [open(), open()]
    for (let round = 0; round < 5; round += 1) {
      one.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      other.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      await Promise.all([one.flush(), one.flush(), other.flush()])
    }
    expect((await minutes(key)).total).toBe(10)
    expect(await countRows('usage_minutes')).toBe(2)
  })

  test('a clock that steps back loses no count and counts nothing twice', async () => {
    const key = newKey()
    const meter = open()
    for (const step of [0, minuteMs, -minuteMs, 0, -hourMs / 2, hourMs / 2]) {
      clock += step
      meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      if (step !== 0) await meter.flush()
    }
    await meter.flush()
    expect((await minutes(key)).total).toBe(6)
  })

  test('counts each call once if writes are slow, fail, or fail after their rows are stored, while minutes change', async () => {
    const keys = Array.from({ length: 300 }, newKey)
    const results: ('slow' | 'failed' | 'writtenButFailed')[] = []
    let release: (() => void) | undefined
    const write: Storage['write'] = async (steps, options) => {
      const result = results.shift()
      if (result === 'slow') await new Promise<void>((resolve) => (release = resolve))
      if (result === 'failed') throw new Error('the connection broke')
      const rows = await storage.write(steps, options)
      if (result === 'writtenButFailed') throw new Error('the connection broke')
      return rows
    }
    const meter = open({ storage: { db: storage.db, write } })
    let counted = 0
    const countAll = (): void => {
      for (const key of keys) meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      counted += 1
    }
    // The 300 keys take two writes. The first or the second one fails.
    for (const round of [
      ['slow'],
      ['slow', 'failed'],
      ['slow', 'writtenButFailed'],
      ['writtenButFailed'],
      ['failed'],
    ] as const) {
      countAll()
      results.push(...round)
      const flushed = meter.flush().catch(() => {})
      if (round[0] === 'slow') await expect.poll(() => release).toBeDefined()
      countAll()
      clock += minuteMs
      countAll()
      release?.()
      release = undefined
      await flushed
    }
    await meter.close()
    for (const key of [keys[0], keys[299]]) expect((await minutes(key as MeteredKey)).total).toBe(counted)
    const { rows } = await sql<{ total: number }>`select sum(total) as total from usage_minutes`.execute(
      storage.db.query,
    )
    expect(Number(rows[0]?.total)).toBe(counted * keys.length)
  })

  test('counts 200 methods separately, with any names, and the rest together', async () => {
    const key = newKey()
    const meter = open()
    for (const name of ['__proto__', 'constructor', '"\\']) meter.count(key, 'mainnet', name, 'succeeded', 1)
    for (let index = 0; index < 1_000; index += 1) meter.count(key, 'mainnet', `eth_${index}`, 'succeeded', 1)
    await meter.flush()
    const { byMethod, total } = await minutes(key)
    expect(total).toBe(1_003)
    expect(byMethod).toHaveLength(201)
    expect(byMethod[0]).toMatchObject({ method: 'other', total: 803 })
    expect(byMethod.map(({ method }) => method)).toEqual(expect.arrayContaining(['__proto__', 'constructor', '"\\']))
  })

  test('writes every flushMs, at most 250 rows at once, and writes the rest when it is closed', async () => {
    const keys = Array.from({ length: 600 }, newKey)
    const meter = open({ flushMs: 20 })
    for (const key of keys) meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    await expect.poll(() => countRows('usage_minutes')).toBe(600)
    const [key] = keys
    if (key === undefined) throw new Error('unreachable')
    const closed = open()
    closed.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    await closed.close()
    closed.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    expect((await minutes(key)).total).toBe(2)
  })

  test('buffers counts that cannot be written, up to maxWaiting, and reports those that it drops', async () => {
    const own = await openStorage(await database.create())
    await own.close()
    const events: MeterEvent[] = []
    const meter = open({ storage: own, maxWaiting: 3, onEvent: (event) => events.push(event) })
    for (let minute = 0; minute < 5; minute += 1) {
      meter.count(newKey(), 'mainnet', 'eth_call', 'succeeded', 1)
      clock += minuteMs
    }
    await expect(meter.flush()).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    clock += minuteMs
    meter.count(newKey(), 'mainnet', 'eth_call', 'succeeded', 1)
    const lost = (): number[] => events.flatMap((event) => (event.event === 'meterLost' ? [event.calls] : []))
    expect(lost()).toEqual([1, 1])
    await meter.close()
    expect(lost()).toEqual([1, 1, 4])
  })

  describe('rollup', () => {
    const outcomes: readonly Outcome[] = ['succeeded', 'nodeError', 'rate_limited', 'upstreamFailed']
    /** Reads the metrics of a key. */
    const read = async (key: MeteredKey, step: 'minute' | 'hour' | 'day', from: number, to: number) =>
      createReadMetrics({ storage })({ subject: { keyId: key.id }, from, to, step })
    const stateNow = () => readState(storage.db)

    test('changes no metrics, by minute, hour or day', async () => {
      const keys = [newKey(), newKey(), newKey(), newKey(), newKey(), newKey()]
      const meters = [open(), open()]
      const day = Date.UTC(2026, 10, 20)
      for (let at = day; at < day + 2 * dayMs; at += 37 * minuteMs) {
        clock = at
        for (const [index, key] of keys.entries())
          for (const meter of meters)
            meter.count(
              key,
              index % 2 === 0 ? 'mainnet' : 'testnet',
              `eth_${index % 3}`,
              outcomes[(at / minuteMs) % 4] ?? 'succeeded',
              at % 977,
            )
      }
      for (const meter of meters) await meter.flush()
      const [key] = keys
      if (key === undefined) throw new Error('unreachable')
      const before = await Promise.all(
        (['minute', 'hour', 'day'] as const).map((step) => read(key, step, day, day + 2 * dayMs)),
      )
      await rollUp(storage, { now: day + 2 * dayMs + 2 * minuteMs })
      expect(await stateNow()).toMatchObject({ hoursTo: Infinity, daysTo: Infinity })
      expect(await countRows('usage_days')).toBe(12)
      const after = await Promise.all(
        (['minute', 'hour', 'day'] as const).map((step) => read(key, step, day, day + 2 * dayMs)),
      )
      expect(after).toEqual(before)
      expect(before[0]?.total).toBe(2 * Math.ceil((2 * 24 * 60) / 37))
      expect(after[2]?.series.map(({ at }) => at)).toEqual([day, day + dayMs])
      // Hours do not need the minutes any more, nor days the hours.
      for (const [table, step] of [
        ['usage_minutes', 'hour'],
        ['usage_hours', 'day'],
      ] as const) {
        await sql`delete from ${sql.table(table)}`.execute(storage.db.query)
        expect(await read(key, step, day, day + 2 * dayMs)).toEqual(before[step === 'hour' ? 1 : 2])
      }
    })

    test('counts that arrive after their hour was rolled up are counted once', async () => {
      const key = newKey()
      const [onTime, late] = [open(), open()]
      onTime.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      late.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      await onTime.flush()
      const afterwards = start + 3 * dayMs
      await rollUp(storage, { now: afterwards })
      const total = async (): Promise<number> => (await read(key, 'day', start - dayMs, start + dayMs)).total
      expect(await total()).toBe(1)
      await late.flush()
      expect(await stateNow()).toMatchObject({ hoursTo: start, daysTo: start - 12 * hourMs })
      expect(await total()).toBe(2)
      await rollUp(storage, { now: afterwards })
      expect(await stateNow()).toMatchObject({ hoursTo: Infinity, daysTo: Infinity })
      expect(await total()).toBe(2)
    })

    test('counts each call once after any sequence of counts, writes, interrupted rollups and concurrent rollups', async () => {
      const step = fc.oneof(
        fc.record({ op: fc.constant('count' as const), meter: fc.nat(2), key: fc.nat(6) }),
        fc.record({ op: fc.constant('flush' as const), meter: fc.nat(2) }),
        fc.record({ op: fc.constant('wait' as const), ms: fc.constantFrom(minuteMs, hourMs, 5 * hourMs, 30 * hourMs) }),
        fc.record({ op: fc.constant('rollUp' as const), stopAfter: fc.nat(4) }),
        fc.record({ op: fc.constant('both' as const), meter: fc.nat(2) }),
        fc.record({ op: fc.constant('restart' as const), meter: fc.nat(2) }),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async (steps) => {
          clock = start
          await clear()
          const keys = Array.from({ length: 7 }, newKey)
          const meters = [open(), open(), open()]
          const counted = new Map(keys.map((key) => [key.id, 0]))
          for (const one of steps) {
            if (one.op === 'count') {
              const key = keys[one.key]
              if (key === undefined) continue
              meters[one.meter]?.count(key, 'mainnet', 'eth_call', 'succeeded', 5)
              counted.set(key.id, (counted.get(key.id) ?? 0) + 1)
            } else if (one.op === 'flush') await meters[one.meter]?.flush()
            else if (one.op === 'wait') clock += one.ms
            else if (one.op === 'restart') {
              await meters[one.meter]?.close()
              meters[one.meter] = open()
            } else if (one.op === 'both')
              await Promise.all([
                rollUp(storage, { now: clock }),
                rollUp(storage, { now: clock }),
                meters[one.meter]?.flush(),
              ])
            else {
              // As if the process was killed at this point.
              let left = one.stopAfter
              const stopped = (): boolean => {
                left -= 1
                if (left < 0) throw new Error('killed')
                return false
              }
              await rollUp(storage, { now: clock, stopped }).catch((error: unknown) =>
                expect(String(error)).toContain('killed'),
              )
            }
          }
          for (const meter of meters) await meter.flush()
          const check = async (): Promise<void> => {
            for (const key of keys)
              for (const unit of ['hour', 'day'] as const) {
                const { total, latencyMs } = await read(key, unit, start, clock + dayMs)
                expect(total).toBe(counted.get(key.id))
                if (total > 0) expect(latencyMs.p50).not.toBeNull()
              }
          }
          await check()
          await rollUp(storage, { now: clock + 2 * dayMs })
          await check()
        }),
        { numRuns: database.name === 'sqlite' ? 20 : 5 },
      )
    })

    test('removes rows past their retention, but none that is not rolled up', async () => {
      const keys = Array.from({ length: 60 }, newKey)
      const meter = open()
      const day = Date.UTC(2026, 10, 1)
      for (clock = day; clock < day + 4 * dayMs; clock += dayMs)
        for (const key of keys) meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      await meter.flush()
      const now = day + 4 * dayMs + 2 * minuteMs
      const retention = { minutesMs: dayMs, hoursMs: 2 * dayMs, daysMs: 3 * dayMs }
      await pruneUsage(storage, { now, retention })
      expect(await countRows('usage_minutes')).toBe(240)
      await rollUp(storage, { now })
      await pruneUsage(storage, { now, retention })
      expect([await countRows('usage_minutes'), await countRows('usage_hours'), await countRows('usage_days')]).toEqual(
        [60, 120, 180],
      )
      const [key] = keys
      if (key === undefined) throw new Error('unreachable')
      // With hours as the step, the oldest points cover a day.
      expect((await read(key, 'hour', day, now)).series.filter(({ total }) => total > 0).map(({ at }) => at)).toEqual(
        [1, 2, 3].map((index) => day + index * dayMs),
      )
      // Counts that arrive after their minutes were removed are not counted, and removed.
      const before = await read(key, 'day', day, now)
      const late = open()
      clock = day
      for (let calls = 0; calls < 5; calls += 1) late.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
      await late.flush()
      expect(await read(key, 'day', day, now)).toEqual(before)
      await rollUp(storage, { now })
      await pruneUsage(storage, { now, retention })
      expect(await countRows('usage_minutes')).toBe(60)
      expect(await countRows('usage_pending')).toBe(0)
      expect(await read(key, 'day', day, now)).toEqual(before)
    })
  })
})
