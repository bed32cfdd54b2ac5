import { CompiledQuery, sql } from 'kysely'
import { lockRows } from '../../storage/transaction.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { Db } from '../../storage/tables.ts'
import type { Step } from '../../storage/database.ts'
import type { MeteredKey } from './meter.ts'

/** The counts of one key in one minute and run. */
export interface MinuteRow {
  readonly keyId: string
  readonly total: number
  readonly counts: string
}

/** Up to when each table is rolled up (`…To`), and from when on it still has its rows (`…From`), in milliseconds since 1970. */
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
export const hourMs: number = 60 * minuteMs
export const dayMs: number = 24 * hourMs

/** Rounds a time down to a multiple of `spanMs`. */
export const floorTo = (at: number, spanMs: number): number => Math.floor(at / spanMs) * spanMs

/** Rows per statement: few different numbers, so that there are few statements to prepare. */
const chunkLengths = [250, 50, 10, 1]

/** Splits rows into chunks of these lengths. */
const toChunks = <Row>(rows: readonly Row[]): (readonly Row[])[] => {
  const chunks: (readonly Row[])[] = []
  for (let start = 0; start < rows.length;) {
    const length = chunkLengths.find((each) => each <= rows.length - start) ?? 1
    chunks.push(rows.slice(start, start + length))
    start += length
  }
  return chunks
}

/**
 * Runs work in a transaction that does not wait for the disk. It survives a killed process, but a power cut may lose the last second. That is
 * acceptable for usage counts; quotas and revocations use `inTransaction`.
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

/** An upsert into a table. */
interface Insertion {
  readonly into: string
  readonly columns: readonly string[]
  readonly conflict: string
}

const statements = new Map<string, string>()

/** Returns the statement that inserts `length` rows. Statements are cached. */
const insertText = (kind: Db['kind'], { into, columns, conflict }: Insertion, length: number): string => {
  const name = `${kind} ${into} ${length}`
  let text = statements.get(name)
  if (text === undefined) {
    let number = 0
    const row = (): string => `(${columns.map(() => (kind === 'sqlite' ? '?' : `$${(number += 1)}`)).join(', ')})`
    const values = Array.from({ length }, row).join(', ')
    text = `insert into ${into} (${columns.join(', ')}) values ${values} on conflict ${conflict}`
    statements.set(name, text)
  }
  return text
}

/** Builds the statements that insert rows. */
const toInserts = (
  kind: Db['kind'],
  insertion: Insertion,
  rows: readonly (readonly (string | number | null)[])[],
): readonly Step[] =>
  toChunks(rows).map((chunk) => ({ text: insertText(kind, insertion, chunk.length), values: chunk.flat() }))

const keysInsertion: Insertion = {
  into: 'usage_keys',
  columns: ['key_id', 'app_id', 'user_id'],
  conflict: 'do nothing',
}
const minutesInsertion: Insertion = {
  into: 'usage_minutes',
  columns: ['at', 'key_id', 'run', 'total', 'counts'],
  conflict: `(at, key_id, run) do update set total = excluded.total, counts = excluded.counts
    where excluded.total > usage_minutes.total`,
}
const rollUpInsertion = {
  columns: ['at', 'key_id', 'total', 'counts'],
  conflict: '(at, key_id) do update set total = excluded.total, counts = excluded.counts',
}

/** Reads the state of the rollup. */
export const readState = async ({ query }: Db): Promise<UsageState> =>
  query.selectFrom('usageState').selectAll().executeTakeFirstOrThrow()

/** Reads the state of the rollup and locks it until the transaction ends. */
export const lockState = (transaction: Db): Promise<UsageState> =>
  lockRows(transaction, transaction.query.selectFrom('usageState').selectAll()).executeTakeFirstOrThrow()

/**
 * Writes the counts of one minute. Rows are cumulative and never replaced by a smaller total, so that a write may be repeated. Counts of a period
 * that is already rolled up schedule it to be rolled up again. Counts of a minute past its retention are dropped.
 */
export const writeMinutes = async (
  { db: { kind }, write }: Pick<Storage, 'db' | 'write'>,
  { at, run, rows, keys }: { at: number; run: string; rows: readonly MinuteRow[]; keys: readonly MeteredKey[] },
): Promise<void> => {
  const [one, two, three] = kind === 'sqlite' ? ['?1', '?2', '?3'] : ['$1::bigint', '$2', '$3::bigint']
  const least = kind === 'sqlite' ? 'min' : 'least'
  const steps: Step[] = [
    ...toInserts(
      kind,
      keysInsertion,
      keys.map(({ id, appId, userId }) => [id, appId ?? null, userId ?? null]),
    ),
    ...toInserts(
      kind,
      minutesInsertion,
      rows.map(({ keyId, total, counts }) => [at, keyId, run, total, counts]),
    ),
    {
      text: `delete from usage_minutes where ${one} < (select minutes_from from usage_state) and at = ${one} and run = ${two}`,
      values: [at, run],
    },
    {
      text: `update usage_state
        set hours_to = ${least}(hours_to, ${two}${kind === 'sqlite' ? '' : '::bigint'}), days_to = ${least}(days_to, ${three}), version = version + 1
        where rolling_to > ${one} and minutes_from <= ${one}`,
      values: [at, floorTo(at, hourMs), floorTo(at, dayMs)],
    },
  ]
  // Blocks the rollup until this is written, but not other writers. SQLite has one writer at a time.
  const sharedLock: Step = { text: 'select id from usage_state for share', values: [] }
  await write(kind === 'postgres' ? [sharedLock, ...steps] : steps, { light: true })
}

/** Writes rolled-up rows and replaces existing ones. */
export const writeRollUp = async (
  { query, kind }: Db,
  into: 'usage_hours' | 'usage_days',
  rows: readonly { at: number; keyId: string; total: number; counts: string }[],
): Promise<void> => {
  const values = rows.map(({ at, keyId, total, counts }) => [at, keyId, total, counts])
  const steps = toInserts(kind, { into, ...rollUpInsertion }, values)
  for (const step of steps) await query.executeQuery(CompiledQuery.raw(step.text, [...step.values]))
}
