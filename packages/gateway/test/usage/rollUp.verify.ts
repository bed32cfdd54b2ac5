import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import { createPartitions } from '../../src/usage/metering/dayPartitions.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { hourMs, minuteMs } from '../../src/lib/time.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'

const start = Date.UTC(2026, 10, 21, 12)
const keys = 4_000
const minutes = 60
const earlierHours = 3
const counts =
  '[["eth_call",0,"succeeded",5,10,2,11,3],["eth_getLogs",0,"succeeded",3,20,3],["eth_call",0,"rate_limited",1,0,1]]'

/** Writes an hour of all keys. */
const fillHour = async ({ db: { query, kind } }: Storage, from: number): Promise<void> => {
  const series = (name: string, length: number) =>
    kind === 'postgres'
      ? sql`generate_series(0, ${sql.lit(length - 1)}) as ${sql.ref(name)}(n)`
      : sql`(with recursive r(n) as (select 0 union all select n + 1 from r where n < ${sql.lit(length - 1)}) select n from r) as ${sql.ref(name)}`
  await sql`insert into usage_minutes (at, key_id, run, total, counts)
    select ${sql.lit(from)} + m.n * ${sql.lit(minuteMs)}, 'key_' || k.n, 'run', 9, ${sql.lit(counts)}
    from ${series('m', minutes)} cross join ${series('k', keys)}`.execute(query)
}

describe.each(databases)('a roll-up on $name', (database) => {
  let storage: Storage
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })

  test('of 4,000 keys and 60 minutes takes seconds', async () => {
    storage = await openStorage(await database.create())
    if (storage.db.kind === 'postgres') await createPartitions(storage.db, 'usage_minutes', start)
    // The hours before are rolled up already, but their minutes are still in the table.
    for (let hour = -earlierHours; hour <= 0; hour += 1) await fillHour(storage, start + hour * hourMs)
    await sql`insert into usage_pending (level, at, run, version) values ('hour', ${sql.lit(start)}, 'run', 1)`.execute(
      storage.db.query,
    )
    const before = performance.now()
    await rollUp(storage, { now: start + hourMs + minuteMs })
    const seconds = (performance.now() - before) / 1_000
    console.log(`${database.name}: ${keys} keys × ${minutes} minutes rolled up in ${seconds.toFixed(2)} s`)
    const { rows } = await sql<{ rows: number; total: number }>`
      select count(*) as rows, sum(total) as total from usage_hours`.execute(storage.db.query)
    expect(rows.map((row) => [Number(row.rows), Number(row.total)])).toEqual([[keys, keys * minutes * 9]])
    const read = createReadMetrics({ storage })
    const metrics = await read({ subject: { keyId: 'key_7' }, from: start, to: start + hourMs, step: 'hour' })
    expect(metrics).toMatchObject({ total: 540, succeeded: 480 })
  })
})
