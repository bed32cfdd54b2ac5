import { CompiledQuery, sql } from 'kysely'
import { holdRows } from '../storage/holdRows.ts'
import type { Db } from '../storage/tables.ts'
import type { MeteredKey } from './meter.ts'

/** Counts of one key in one minute by one run of a process. */
export interface MinuteRow {
  readonly at: number
  readonly keyId: string
  readonly run: string
  readonly total: number
  readonly counts: string
}

/** Up to when each table is made of the finer one, and from when it still has its rows. */
export interface UsageState {
  readonly hoursTo: number
  readonly rollingTo: number
  readonly daysTo: number
  readonly minutesFrom: number
  readonly hoursFrom: number
  readonly daysFrom: number
  readonly version: number
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The start of the span of that length that a time lies in. */
export const floorTo = (at: number, spanMs: number): number => Math.floor(at / spanMs) * spanMs

/** Of these lengths, so that there are few statements to prepare. */
const lengths = [250, 50, 10, 1]

/** Splits a list into parts of few different lengths. */
const inLengths = <Item>(items: readonly Item[]): (readonly Item[])[] => {
  const parts: (readonly Item[])[] = []
  for (let start = 0; start < items.length;) {
    const length = lengths.find((each) => each <= items.length - start) ?? 1
    parts.push(items.slice(start, start + length))
    start += length
  }
  return parts
}

/**
 * Runs work in a transaction that the disk is not waited for: a process that is killed loses nothing of it, a power cut may. Counts of usage may
 * lose a second; quotas and revocations, which may not, are written otherwise.
 */
export const inLightTransaction = <T>(db: Db, work: (transaction: Db) => Promise<T>): Promise<T> =>
  db.query.connection().execute(async (connection) => {
    const transaction = (): Promise<T> => connection.transaction().execute((query) => work({ query, kind: db.kind }))
    if (db.kind === 'postgres') {
      return connection.transaction().execute(async (query) => {
        await sql`set local synchronous_commit = off`.execute(query)
        return work({ query, kind: db.kind })
      })
    }
    await sql`pragma synchronous = normal`.execute(connection)
    try {
      return await transaction()
    } finally {
      await sql`pragma synchronous = full`.execute(connection)
    }
  })

/** Inserts rows by statements that are the same again and again. */
const insert = async (
  { query, kind }: Db,
  {
    into,
    columns,
    conflict,
    rows,
  }: {
    into: string
    columns: readonly string[]
    conflict: string
    rows: readonly (readonly (string | number | null)[])[]
  },
): Promise<void> => {
  for (const part of inLengths(rows)) {
    let number = 0
    const values = part.map(() => `(${columns.map(() => (kind === 'sqlite' ? '?' : `$${(number += 1)}`)).join(', ')})`)
    const text = `insert into ${into} (${columns.join(', ')}) values ${values.join(', ')} on conflict ${conflict}`
    await query.executeQuery(CompiledQuery.raw(text, part.flat()))
  }
}

/** What is rolled up, and up to when. */
export const readState = async ({ query }: Db): Promise<UsageState> =>
  query.selectFrom('usageState').selectAll().executeTakeFirstOrThrow()

/** The same, which then stays so until the transaction ends. */
export const holdState = (transaction: Db): Promise<UsageState> =>
  holdRows(transaction, transaction.query.selectFrom('usageState').selectAll()).executeTakeFirstOrThrow()

/** The same, which then nobody rolls up until the transaction ends, while others may write as well. */
const shareState = ({ query, kind }: Db): Promise<UsageState> => {
  const state = query.selectFrom('usageState').selectAll()
  return (kind === 'postgres' ? state.forShare() : state).executeTakeFirstOrThrow()
}

/**
 * Writes what is counted so far. Rows are cumulative, and none is ever replaced by one that counts less, so that it may be repeated.
 * What belongs to a time that is rolled up already voids that, and is rolled up again. What belongs to a time whose minutes are removed is left out.
 */
export const writeMinutes = (
  db: Db,
  { rows, keys }: { rows: readonly MinuteRow[]; keys: readonly MeteredKey[] },
): Promise<void> =>
  inLightTransaction(db, async (transaction) => {
    const { minutesFrom, rollingTo } = await shareState(transaction)
    await insert(transaction, {
      into: 'usage_keys',
      columns: ['key_id', 'app_id', 'user_id'],
      conflict: 'do nothing',
      rows: keys.map(({ id, appId, userId }) => [id, appId ?? null, userId ?? null]),
    })
    const kept = rows.filter(({ at }) => at >= minutesFrom)
    await insert(transaction, {
      into: 'usage_minutes',
      columns: ['at', 'key_id', 'run', 'total', 'counts'],
      conflict: `(at, key_id, run) do update set total = excluded.total, counts = excluded.counts
        where excluded.total > usage_minutes.total`,
      rows: kept.map(({ at, keyId, run, total, counts }) => [at, keyId, run, total, counts]),
    })
    const oldest = Math.min(...kept.map(({ at }) => at))
    if (oldest >= rollingTo) return
    const { hoursTo, daysTo } = await holdState(transaction)
    await transaction.query
      .updateTable('usageState')
      .set((row) => ({
        hoursTo: Math.min(hoursTo, floorTo(oldest, hourMs)),
        daysTo: Math.min(daysTo, floorTo(oldest, dayMs)),
        version: row('version', '+', 1),
      }))
      .execute()
  })

/** Writes rolled up rows in the place of those that are there. */
export const writeRollUp = (
  transaction: Db,
  into: 'usage_hours' | 'usage_days',
  rows: readonly { at: number; keyId: string; total: number; counts: string }[],
): Promise<void> =>
  insert(transaction, {
    into,
    columns: ['at', 'key_id', 'total', 'counts'],
    conflict: '(at, key_id) do update set total = excluded.total, counts = excluded.counts',
    rows: rows.map(({ at, keyId, total, counts }) => [at, keyId, total, counts]),
  })
