import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import type { MeteredKey, MeterEvent, Outcome } from '../../src/usage/metering/meter.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../src/lib/time.ts'
import { maxMethodNames } from '../../src/lib/methods.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { newKey, start, useMeters } from './useMeters.ts'

describe.each(suiteDatabases)('metering on $name', (database) => {
  const meters = useMeters(database)
  const { open, countRows } = meters
  const minutes = (key: MeteredKey, from = start - hourMs, to = start + hourMs) =>
    createReadMetrics(meters)({ subject: { keyId: key.id }, from, to, step: 'minute' })

  test('metrics have the calls whose result was stored, with a filter, and once they are rolled up', async () => {
    const key = newKey()
    const meter = open()
    const count = (method: string, network: string, calls: number, stored: number): void =>
      meter.count(key, network, method, 'succeeded', 1, calls, { units: calls, bytes: 1, stored })
    count('eth_call', 'mainnet', 5, 2)
    count('eth_call', 'testnet', 1, 1)
    count('eth_getLogs', 'mainnet', 3, 0)
    await meter.flush()
    count('eth_call', 'mainnet', 1, 1)
    await meter.flush()
    const read = (filter?: { method?: string; network?: string }) =>
      createReadMetrics(meters)({
        subject: { keyId: key.id },
        from: floorTo(start, dayMs),
        to: floorTo(start, dayMs) + dayMs,
        step: 'day',
        filter,
      })
    const expectStored = async (): Promise<void> => {
      expect(await read()).toMatchObject({ total: 10, stored: 4 })
      expect(await read({ network: 'testnet' })).toMatchObject({ total: 1, stored: 1 })
      expect(await read({ method: 'eth_getLogs' })).toMatchObject({ total: 3, stored: 0 })
    }
    await expectStored()
    await rollUp(meters.storage, { now: start + 3 * dayMs })
    await meters.storage.db.query.deleteFrom('usageMinutes').where('keyId', '=', key.id).execute()
    await meters.storage.db.query.deleteFrom('usageHours').where('keyId', '=', key.id).execute()
    await expectStored()
  })

  test('metrics have what the limits charged, and why it differs from the number of calls', async () => {
    const key = newKey()
    const meter = open()
    const charge = (method: string, outcome: Outcome, calls: number, units: number): void =>
      meter.count(key, 'testnet', method, outcome, 1, calls, { units, bytes: 1 })
    charge('eth_call', 'succeeded', 601, 601)
    charge('eth_call', 'rate_limited', 2, 0)
    charge('eth_getLogs', 'succeeded', 10, 50)
    charge('eth_getLogs', 'upstreamFailed', 3, 2)
    charge('eth_subscription', 'succeeded', 7, 14)
    await meter.flush()
    expect((await minutes(key)).charged).toEqual({
      units: 667,
      free: [
        { outcome: 'rate_limited', total: 2 },
        { outcome: 'upstreamFailed', total: 1 },
      ],
      weighted: 40,
      notifications: 14,
    })
    const span = { from: start, to: start + hourMs, step: 'hour' } as const
    const ofLogs = createReadMetrics(meters)({ subject: { keyId: key.id }, ...span, filter: { method: 'eth_getLogs' } })
    expect((await ofLogs).charged).toMatchObject({ units: 52, weighted: 40, notifications: 0 })
  })

  test('metrics have the counts by step, method, outcome and network, for a key, an app and a user', async () => {
    const key = newKey()
    const sibling = { ...newKey(), userId: key.userId }
    const meter = open()
    for (let ms = 1; ms <= 100; ms += 1) meter.count(key, 'mainnet', 'eth_call', 'succeeded', ms)
    meter.count(key, 'testnet', 'eth_getLogs', 'nodeError', 200)
    meter.count(key, 'mainnet', 'eth_call', 'reverted', 51)
    meters.clock += minuteMs
    meter.count(key, 'testnet', 'eth_getLogs', 'rate_limited', 0.01)
    meter.count(key, 'testnet', 'other', 'method_not_found', 0.01)
    meter.count(sibling, 'testnet', 'eth_call', 'succeeded', 1)
    meter.count(key, 'testnet', 'websocket', 'succeeded', undefined)
    meter.count(key, 'testnet', 'eth_subscription', 'succeeded', undefined, 7)
    await meter.flush()
    const metrics = await minutes(key)
    const counts = { total: 104, succeeded: 100, reverted: 1, successRate: 101 / 104, connections: 1, notifications: 7 }
    expect(metrics).toMatchObject(counts)
    expect(metrics.series.filter(({ total }) => total > 0)).toEqual([
      {
        at: start,
        total: 102,
        succeeded: 100,
        reverted: 1,
        p50: expect.any(Number) as number,
        p95: expect.any(Number) as number,
        connections: 0,
        notifications: 0,
      },
      {
        at: start + minuteMs,
        total: 2,
        succeeded: 0,
        reverted: 0,
        p50: null,
        p95: null,
        connections: 1,
        notifications: 7,
      },
    ])
    expect(metrics.series).toHaveLength(120)
    expect(metrics.byMethod.map((one) => [one.method, one.total, one.succeeded, one.reverted])).toEqual([
      ['eth_call', 101, 100, 1],
      ['eth_getLogs', 2, 0, 0],
      ['other', 1, 0, 0],
    ])
    expect(metrics.byOutcome).toEqual([
      { outcome: 'succeeded', total: 100 },
      { outcome: 'reverted', total: 1 },
      { outcome: 'nodeError', total: 1 },
      { outcome: 'rate_limited', total: 1 },
      { outcome: 'method_not_found', total: 1 },
    ])
    expect(metrics.byNetwork).toEqual([
      { network: 'mainnet', total: 101, succeeded: 100, reverted: 1 },
      { network: 'testnet', total: 3, succeeded: 0, reverted: 0 },
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

    const read = createReadMetrics(meters)
    const filtered = { subject: { keyId: key.id }, from: start, to: start + hourMs, step: 'hour' } as const
    for (const [filter, total] of [
      [{ method: 'eth_getLogs' }, 2],
      [{ outcome: 'rate_limited' }, 1],
      [{ network: 'mainnet' }, 101],
      [{ network: 'testnet', method: 'eth_getLogs', outcome: 'nodeError' }, 1],
      [{ network: 'mainnet', outcome: 'nodeError' }, 0],
    ] as const)
      expect(await read({ ...filtered, filter })).toMatchObject({ total, series: [{ total }] })
    const span = { from: start, to: start + hourMs, step: 'hour' } as const
    expect(await read({ subject: { appId: key.appId ?? '' }, ...span })).toMatchObject({ total: 104 })
    expect(await read({ subject: { userId: key.userId ?? '' }, ...span })).toMatchObject({ total: 105 })
    expect(await read({ subject: { keyId: 'key_none' }, ...span })).toMatchObject({
      total: 0,
      stored: 0,
      successRate: null,
      latencyMs: { p50: null, p90: null, p95: null, p99: null },
      series: [{ at: start, total: 0, succeeded: 0, reverted: 0, p50: null, p95: null }],
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

  test('a meters.clock that steps back loses no count and counts nothing twice', async () => {
    const key = newKey()
    const meter = open()
    for (const step of [0, minuteMs, -minuteMs, 0, -hourMs / 2, hourMs / 2]) {
      meters.clock += step
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
      const rows = await meters.storage.write(steps, options)
      if (result === 'writtenButFailed') throw new Error('the connection broke')
      return rows
    }
    const meter = open({ storage: { db: meters.storage.db, write } })
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
      meters.clock += minuteMs
      countAll()
      release?.()
      release = undefined
      await flushed
    }
    await meter.close()
    for (const key of [keys[0], keys[299]]) expect((await minutes(key as MeteredKey)).total).toBe(counted)
    const { rows } = await sql<{ total: number }>`select sum(total) as total from usage_minutes`.execute(
      meters.storage.db.query,
    )
    expect(Number(rows[0]?.total)).toBe(counted * keys.length)
  })

  test('counts a bounded number of methods separately, with any names, and the rest together', async () => {
    const key = newKey()
    const meter = open()
    for (const name of ['__proto__', 'constructor', '"\\']) meter.count(key, 'mainnet', name, 'succeeded', 1)
    for (let index = 0; index < maxMethodNames + 800; index += 1)
      meter.count(key, 'mainnet', `eth_${index}`, 'succeeded', 1)
    await meter.flush()
    const { byMethod, total } = await minutes(key)
    expect(total).toBe(maxMethodNames + 803)
    expect(byMethod).toHaveLength(maxMethodNames + 1)
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
      meters.clock += minuteMs
    }
    await expect(meter.flush()).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    meters.clock += minuteMs
    meter.count(newKey(), 'mainnet', 'eth_call', 'succeeded', 1)
    const lost = (): number[] => events.flatMap((event) => (event.event === 'meterLost' ? [event.calls] : []))
    expect(lost()).toEqual([1, 1])
    await meter.close()
    expect(lost()).toEqual([1, 1, 4])
  })
})
