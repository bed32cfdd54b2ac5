import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { createPartitions } from '../../src/usage/metering/dayPartitions.ts'
import { pruneUsage } from '../../src/usage/metering/pruneUsage.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { dayMs, hourMs } from '../../src/lib/time.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { postgres } from '../storage/databases.ts'

const day = Date.UTC(2026, 10, 21)

describe('partitions of the minutes', () => {
  const toClose: Storage[] = []
  afterAll(async () => {
    await Promise.all(toClose.map((storage) => storage.close()))
  })
  const openEmpty = async (): Promise<Storage> => {
    const storage = await openStorage(await postgres.create())
    toClose.push(storage)
    return storage
  }
  /** The partitions that have rows, and the empty ones. */
  const readPartitions = async ({ db: { query } }: Storage): Promise<Record<string, number>> => {
    const { rows } = await sql<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'usage_minutes'::regclass order by 1`.execute(
      query,
    )
    const counts: Record<string, number> = {}
    for (const { name } of rows) {
      const { rows: counted } = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(name)}`.execute(
        query,
      )
      counts[name.replace('usage_minutes_', '')] = Number(counted[0]?.rows)
    }
    return counts
  }
  const countAt = async (storage: Storage, ...times: number[]): Promise<void> => {
    let now = 0
    const meter = createMeter({ storage, now: () => now, flushMs: 60_000, rollUpMs: 0 })
    for (const time of times) {
      now = time
      meter.count({ id: 'key_1' }, 'mainnet', 'eth_call', 'succeeded', 5)
    }
    await meter.close()
  }

  test('are created for today and three days, by any number of instances at once, and take the rows that are there', async () => {
    const storage = await openEmpty()
    await countAt(storage, day - 1, day, day + hourMs, day + 2 * dayMs, day + 9 * dayMs)
    expect(await readPartitions(storage)).toEqual({ default: 5 })
    await Promise.all([1, 2, 3, 4].map(() => createPartitions(storage.db, 'usage_minutes', day + 5 * hourMs)))
    const partitions = { '2026_11_21': 2, '2026_11_22': 0, '2026_11_23': 1, '2026_11_24': 0, default: 2 }
    expect(await readPartitions(storage)).toEqual(partitions)
    await createPartitions(storage.db, 'usage_minutes', day + 6 * hourMs)
    await countAt(storage, day + dayMs)
    expect(await readPartitions(storage)).toEqual({ ...partitions, '2026_11_22': 1 })
    await createPartitions(storage.db, 'usage_minutes', day + 2 * dayMs)
    expect(Object.keys(await readPartitions(storage))).toEqual([
      '2026_11_21',
      '2026_11_22',
      '2026_11_23',
      '2026_11_24',
      '2026_11_25',
      '2026_11_26',
      'default',
    ])
  })

  test('take a row that is being written to the default partition', async () => {
    const storage = await openEmpty()
    let created: Promise<void> | undefined
    await storage.db.query.transaction().execute(async (writer) => {
      await writer
        .insertInto('usageMinutes')
        .values({ at: day, keyId: 'key_1', run: 'run_1', total: 1, counts: '[]', used: '[]', stored: '[]' })
        .execute()
      created = createPartitions(storage.db, 'usage_minutes', day)
      await expect
        .poll(async () => {
          const { rows } = await sql`
            select from pg_locks where not granted
            and database = (select oid from pg_database where datname = current_database())`.execute(storage.db.query)
          return rows.length
        })
        .toBe(1)
    })
    await created
    expect(await readPartitions(storage)).toMatchObject({ '2026_11_21': 1, default: 0 })
  })

  test('are dropped once all of their rows are past their retention, with late rows of those days', async () => {
    const storage = await openEmpty()
    await createPartitions(storage.db, 'usage_minutes', day)
    await countAt(storage, day - dayMs, day, day + dayMs, day + 2 * dayMs)
    const now = day + 2 * dayMs + hourMs
    const retention = { minutesMs: dayMs, hoursMs: 30 * dayMs, daysMs: 90 * dayMs }
    await pruneUsage(storage, { now, retention })
    expect(await readPartitions(storage)).toMatchObject({ '2026_11_21': 1, default: 1 })
    await rollUp(storage, { now })
    await pruneUsage(storage, { now, retention })
    expect(await readPartitions(storage)).toEqual({ '2026_11_22': 1, '2026_11_23': 1, '2026_11_24': 0, default: 0 })
  })

  test('wait for no reader for longer than a second', async () => {
    const storage = await openEmpty()
    await createPartitions(storage.db, 'usage_minutes', day)
    await storage.db.query.transaction().execute(async (reader) => {
      await reader.selectFrom('usageMinutes').selectAll().execute()
      await expect(createPartitions(storage.db, 'usage_minutes', day + dayMs)).rejects.toMatchObject({ fault: 'busy' })
      // Writers do not wait for it.
      await countAt(storage, day)
    })
    await createPartitions(storage.db, 'usage_minutes', day + dayMs)
    expect(await readPartitions(storage)).toMatchObject({ '2026_11_21': 1, '2026_11_25': 0 })
  })

  test('are created by each meter when it starts', async () => {
    const storage = await openEmpty()
    const meter = createMeter({ storage, now: () => day })
    await expect.poll(() => readPartitions(storage)).toMatchObject({ '2026_11_21': 0 })
    await meter.close()
  })
})
