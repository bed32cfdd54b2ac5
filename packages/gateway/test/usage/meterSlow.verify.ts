import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { minuteMs } from '../../src/lib/time.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import type { MeterTask } from './meterUntilStopped.ts'

const start = Date.UTC(2026, 10, 21, 12)
const roundTripMs = 100

const toStop: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of toStop.reverse()) await stop()
})

/** Creates a database. @returns Its options, and those of the same database 100 ms away. SQLite is never far away. */
const createFar = async (database: TestDatabase): Promise<{ near: StorageOptions; far: StorageOptions }> => {
  const near = await database.create()
  toStop.push(() => database.stop())
  if ('file' in near) return { near, far: near }
  const url = new URL(near.databaseUrl)
  const proxy = await startTcpProxy(Number(url.port), { roundTripMs })
  toStop.push(proxy.close)
  url.port = String(proxy.port)
  return { near, far: { databaseUrl: url.href } }
}

/** The stored calls of each key, and of how many minutes. */
const readTotals = async ({ db: { query } }: Storage): Promise<{ totals: number[]; minutes: number }> => {
  const { rows } = await sql<{ total: number }>`select sum(total) as total from usage_minutes group by key_id`.execute(
    query,
  )
  const { rows: minutes } = await sql`select distinct at from usage_minutes`.execute(query)
  return { totals: rows.map(({ total }) => Number(total)), minutes: minutes.length }
}

describe.each(databases)('a meter with a database 100 ms away on $name', (database) => {
  test('loses nothing when minutes end and when it is closed, with more rows than one transaction writes', async () => {
    const { near, far } = await createFar(database)
    // The first one migrates.
    const [check, storage] = [await openStorage(near), await openStorage(far)]
    toStop.push(check.close)
    let now = start
    const lost: unknown[] = []
    const meter = createMeter({
      storage,
      now: () => now,
      flushMs: 50,
      onEvent: (event) => event.event === 'meterLost' && lost.push(event),
    })
    let counted = 0
    // Far more minutes end than writes.
    for (let round = 0; round < 40; round += 1) {
      for (let key = 0; key < 300; key += 1) meter.count({ id: `key_${key}` }, 'mainnet', 'eth_call', 'succeeded', 1)
      counted += 1
      if (round % 10 === 9) now += minuteMs
      await wait(20)
    }
    await meter.close()
    await storage.close()
    const { totals, minutes } = await readTotals(check)
    expect(totals).toEqual(Array.from({ length: 300 }, () => counted))
    expect(minutes).toBe(4)
    expect(lost).toEqual([])
  })

  test('loses nothing at SIGTERM', async () => {
    const { near, far } = await createFar(database)
    const storage = await openStorage(near)
    toStop.push(storage.close)
    const task: MeterTask = { storage: far, keys: 400, startAt: start }
    const child = spawn(
      process.execPath,
      ['--conditions=@keyrail/source', join(import.meta.dirname, 'meterUntilStopped.ts')],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, KEYRAIL_TEST_METER: JSON.stringify(task) } },
    )
    let [printed, errors] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const exited = once(child, 'close')
    await expect.poll(() => printed).toContain('counting')
    // Some 80 seconds on its clock.
    await wait(2_000)
    child.kill('SIGTERM')
    expect([await exited, errors.includes('meterLost')]).toEqual([[0, null], false])
    const counted = Number(printed.split('\n')[1])
    expect(counted).toBeGreaterThan(20)
    const { totals, minutes } = await readTotals(storage)
    expect(totals).toEqual(Array.from({ length: 400 }, () => counted))
    expect(minutes).toBeGreaterThan(1)
  })
})
