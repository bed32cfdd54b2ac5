import { sql } from 'kysely'
import { inTransaction } from '../../storage/transaction.ts'
import type { Db } from '../../storage/tables.ts'
import { parseBounds, planPartitions } from './usagePlan.ts'
import type { Partition } from './usagePlan.ts'
import { dayMs } from '../../lib/time.ts'

/** An arbitrary number. All instances that create partitions in this database take the same lock. */
const advisoryLock = 7_241_530_092
/** How long a change of partitions may wait for readers, because writers that come after it wait as long. The next round retries. */
const lockTimeout = '1s'

/** A table with a partition for each day. */
export type DayTable = 'usage_minutes' | 'request_log'

const readPartitions = async ({ query }: Db, table: DayTable): Promise<readonly Partition[]> => {
  const { rows } = await sql<{ name: string; bounds: string }>`
    select relname as name, pg_get_expr(relpartbound, pg_class.oid) as bounds
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = ${sql.lit(table)}::regclass`.execute(query)
  return rows.flatMap(({ name, bounds }) => {
    const parsed = parseBounds(bounds)
    return parsed === undefined ? [] : [{ name, ...parsed }]
  })
}

/** Runs statements that change partitions in one transaction. */
const change = (db: Db, work: (run: (text: string) => Promise<unknown>, transaction: Db) => Promise<void>) =>
  inTransaction(db, async (transaction) => {
    const run = (text: string): Promise<unknown> => sql.raw(text).execute(transaction.query)
    // Until the end of the transaction, so that it also holds behind PgBouncer. Transactions that wait for it block no others.
    await run(`select pg_advisory_xact_lock(${advisoryLock})`)
    await run(`set local lock_timeout = '${lockTimeout}'`)
    await work(run, transaction)
  })

/**
 * Creates the partitions of a table for today and the next days. Any instance may do it at any time. PostgreSQL only.
 * @param now - Milliseconds since 1970.
 * @throws {StorageError}
 */
export const createPartitions = async (db: Db, table: DayTable, now: number): Promise<void> => {
  const findMissing = async (from: Db): Promise<readonly number[]> =>
    planPartitions(await readPartitions(from, table), { storedFrom: -Infinity, now }).create
  if ((await findMissing(db)).length === 0) return
  await change(db, async (run, transaction) => {
    const days = await findMissing(transaction)
    // One statement, because writers wait from its lock to the commit: with many round trips, a slow connection would stop them for seconds.
    if (days.length > 0)
      await run(`do $$ begin
        -- Rows of these days may be in the default partition. Nobody may add any until they are moved.
        lock table ${table}_default in access exclusive mode;
        ${days.map((day) => toCreation(table, day)).join('\n')}
      end $$`)
  })
}

const toCreation = (table: DayTable, day: number): string => {
  const name = `${table}_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '_')}`
  const isOfDay = `at >= ${day} and at < ${day + dayMs}`
  return `
    create table ${name} (like ${table} including all);
    insert into ${name} select * from ${table}_default where ${isOfDay};
    delete from ${table}_default where ${isOfDay};
    -- Unlike "create table … partition of", this lets others read and write other partitions.
    alter table ${table} attach partition ${name} for values from (${day}) to (${day + dayMs});`
}

/**
 * Drops the partitions whose rows are all past their retention. PostgreSQL only.
 * @param options.storedFrom - From when on rows are stored, in milliseconds since 1970.
 * @param options.now - Milliseconds since 1970.
 * @throws {StorageError}
 */
export const dropPartitions = async (
  db: Db,
  table: DayTable,
  options: { storedFrom: number; now: number },
): Promise<void> => {
  for (const name of planPartitions(await readPartitions(db, table), options).drop)
    await change(db, async (run) => {
      await run(`drop table if exists ${name}`)
    })
}
