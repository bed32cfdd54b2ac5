import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import type { MeteredKey, Outcome } from '../../src/usage/metering/meter.ts'
import { pruneUsage } from '../../src/usage/metering/pruneUsage.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { readState } from '../../src/usage/metering/usageRows.ts'
import { dayMs, hourMs, minuteMs } from '../../src/lib/time.ts'
import { databases } from '../storage/databases.ts'
import { newKey, start, useMeters } from './useMeters.ts'

describe.each(databases)('rolled-up metrics on $name', (database) => {
  const meters = useMeters(database)
  const { open, countRows, clear } = meters
  const outcomes: readonly Outcome[] = ['succeeded', 'nodeError', 'rate_limited', 'upstreamFailed']
  /** Reads the metrics of a key. */
  const read = async (key: MeteredKey, step: 'minute' | 'hour' | 'day', from: number, to: number) =>
    createReadMetrics(meters)({ subject: { keyId: key.id }, from, to, step })
  const stateNow = () => readState(meters.storage.db)

  test('changes no metrics, by minute, hour or day', async () => {
    const keys = [newKey(), newKey(), newKey(), newKey(), newKey(), newKey()]
    const writers = [open(), open()]
    const day = Date.UTC(2026, 10, 20)
    for (let at = day; at < day + 2 * dayMs; at += 37 * minuteMs) {
      meters.clock = at
      for (const [index, key] of keys.entries())
        for (const meter of writers)
          meter.count(
            key,
            index % 2 === 0 ? 'mainnet' : 'testnet',
            `eth_${index % 3}`,
            outcomes[(at / minuteMs) % 4] ?? 'succeeded',
            at % 977,
          )
    }
    for (const meter of writers) await meter.flush()
    const [key] = keys
    if (key === undefined) throw new Error('unreachable')
    const before = await Promise.all(
      (['minute', 'hour', 'day'] as const).map((step) => read(key, step, day, day + 2 * dayMs)),
    )
    await rollUp(meters.storage, { now: day + 2 * dayMs + 2 * minuteMs })
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
      await sql`delete from ${sql.table(table)}`.execute(meters.storage.db.query)
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
    await rollUp(meters.storage, { now: afterwards })
    const total = async (): Promise<number> => (await read(key, 'day', start - dayMs, start + dayMs)).total
    expect(await total()).toBe(1)
    await late.flush()
    expect(await stateNow()).toMatchObject({ hoursTo: start, daysTo: start - 12 * hourMs })
    expect(await total()).toBe(2)
    await rollUp(meters.storage, { now: afterwards })
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
        meters.clock = start
        await clear()
        const keys = Array.from({ length: 7 }, newKey)
        const writers = [open(), open(), open()]
        const counted = new Map(keys.map((key) => [key.id, 0]))
        for (const one of steps) {
          if (one.op === 'count') {
            const key = keys[one.key]
            if (key === undefined) continue
            writers[one.meter]?.count(key, 'mainnet', 'eth_call', 'succeeded', 5)
            counted.set(key.id, (counted.get(key.id) ?? 0) + 1)
          } else if (one.op === 'flush') await writers[one.meter]?.flush()
          else if (one.op === 'wait') meters.clock += one.ms
          else if (one.op === 'restart') {
            await writers[one.meter]?.close()
            writers[one.meter] = open()
          } else if (one.op === 'both')
            await Promise.all([
              rollUp(meters.storage, { now: meters.clock }),
              rollUp(meters.storage, { now: meters.clock }),
              writers[one.meter]?.flush(),
            ])
          else {
            // As if the process was killed at this point.
            let left = one.stopAfter
            const stopped = (): boolean => {
              left -= 1
              if (left < 0) throw new Error('killed')
              return false
            }
            await rollUp(meters.storage, { now: meters.clock, stopped }).catch((error: unknown) =>
              expect(String(error)).toContain('killed'),
            )
          }
        }
        for (const meter of writers) await meter.flush()
        const check = async (): Promise<void> => {
          for (const key of keys)
            for (const unit of ['hour', 'day'] as const) {
              const { total, latencyMs } = await read(key, unit, start, meters.clock + dayMs)
              expect(total).toBe(counted.get(key.id))
              if (total > 0) expect(latencyMs.p50).not.toBeNull()
            }
        }
        await check()
        await rollUp(meters.storage, { now: meters.clock + 2 * dayMs })
        await check()
      }),
      { numRuns: database.name === 'sqlite' ? 20 : 5 },
    )
  })

  test('removes rows past their retention, but none that is not rolled up', async () => {
    const keys = Array.from({ length: 60 }, newKey)
    const meter = open()
    const day = Date.UTC(2026, 10, 1)
    for (meters.clock = day; meters.clock < day + 4 * dayMs; meters.clock += dayMs)
      for (const key of keys) meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    await meter.flush()
    const now = day + 4 * dayMs + 2 * minuteMs
    const retention = { minutesMs: dayMs, hoursMs: 2 * dayMs, daysMs: 3 * dayMs }
    await pruneUsage(meters.storage, { now, retention })
    expect(await countRows('usage_minutes')).toBe(240)
    await rollUp(meters.storage, { now })
    await pruneUsage(meters.storage, { now, retention })
    expect([await countRows('usage_minutes'), await countRows('usage_hours'), await countRows('usage_days')]).toEqual([
      60, 120, 180,
    ])
    const [key] = keys
    if (key === undefined) throw new Error('unreachable')
    // With hours as the step, the oldest points cover a day.
    expect((await read(key, 'hour', day, now)).series.filter(({ total }) => total > 0).map(({ at }) => at)).toEqual(
      [1, 2, 3].map((index) => day + index * dayMs),
    )
    // Counts that arrive after their minutes were removed are not counted, and removed.
    const before = await read(key, 'day', day, now)
    const late = open()
    meters.clock = day
    for (let calls = 0; calls < 5; calls += 1) late.count(key, 'mainnet', 'eth_call', 'succeeded', 1)
    await late.flush()
    expect(await read(key, 'day', day, now)).toEqual(before)
    await rollUp(meters.storage, { now })
    await pruneUsage(meters.storage, { now, retention })
    expect(await countRows('usage_minutes')).toBe(60)
    expect(await countRows('usage_pending')).toBe(0)
    expect(await read(key, 'day', day, now)).toEqual(before)
  })
})
