import { CompiledQuery, sql } from 'kysely'
import { lockRows } from '../../storage/transaction.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { Db } from '../../storage/tables.ts'
import type { Step } from '../../storage/database.ts'
import type { MeteredKey } from './meter.ts'

/** Counts of one key in one minute by one run of a process. */
export interface MinuteRow {
  readonly keyId: string
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
export const hourMs: number = 60 * minuteMs
export const dayMs: number = 24 * hourMs

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

/** How rows go into a table. */
interface Insertion {
  readonly into: string
  readonly columns: readonly string[]
  readonly conflict: string
}

const texts = new Map<string, string>()

/** A statement that inserts so many rows. There are few, and each is written once. */
const insertText = (kind: Db['kind'], { into, columns, conflict }: Insertion, length: number): string => {
  const name = `${kind} ${into} ${length}`
  let text = texts.get(name)
  if (text === undefined) {
    let number = 0
    const row = (): string => `(${columns.map(() => (kind === 'sqlite' ? '?' : `$${(number += 1)}`)).join(', ')})`
    const values = Array.from({ length }, row).join(', ')
    text = `insert into ${into} (${columns.join(', ')}) values ${values} on conflict ${conflict}`
    texts.set(name, text)
  }
  return text
}

/** Statements that insert rows. */
const inserts = (
  kind: Db['kind'],
  insertion: Insertion,
  rows: readonly (readonly (string | number | null)[])[],
): readonly Step[] =>
  inLengths(rows).map((part) => ({ text: insertText(kind, insertion, part.length), values: part.flat() }))

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

/** What is rolled up, and up to when. */
export const readState = async ({ query }: Db): Promise<UsageState> =>
  query.selectFrom('usageState').selectAll().executeTakeFirstOrThrow()

/** The same, which then stays so until the transaction ends. */
export const holdState = (transaction: Db): Promise<UsageState> =>
  lockRows(transaction, transaction.query.selectFrom('usageState').selectAll()).executeTakeFirstOrThrow()

/**
 * Writes what is counted so far of one minute. Rows are cumulative, and none is ever replaced by one that counts less, so that it may be repeated.
 * What belongs to a time that is rolled up already voids that, and is rolled up again. What belongs to a time whose minutes are removed is left out.
 */
export const writeMinutes = async (
  { db: { kind }, write }: Pick<Storage, 'db' | 'write'>,
  { at, run, rows, keys }: { at: number; run: string; rows: readonly MinuteRow[]; keys: readonly MeteredKey[] },
): Promise<void> => {
  const [one, two, three] = kind === 'sqlite' ? ['?1', '?2', '?3'] : ['$1::bigint', '$2', '$3::bigint']
  const least = kind === 'sqlite' ? 'min' : 'least'
  const steps: Step[] = [
    ...inserts(
      kind,
      keysInsertion,
      keys.map(({ id, appId, userId }) => [id, appId ?? null, userId ?? null]),
    ),
    ...inserts(
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
  // Nobody rolls up until this is written, while others may write as well. SQLite has one writer at a time.
  const share: Step = { text: 'select id from usage_state for share', values: [] }
  await write(kind === 'postgres' ? [share, ...steps] : steps, { light: true })
}

/** Writes rolled up rows in the place of those that are there. */
export const writeRollUp = async (
  { query, kind }: Db,
  into: 'usage_hours' | 'usage_days',
  rows: readonly { at: number; keyId: string; total: number; counts: string }[],
): Promise<void> => {
  const values = rows.map(({ at, keyId, total, counts }) => [at, keyId, total, counts])
  const steps = inserts(kind, { into, ...rollUpInsertion }, values)
  for (const step of steps) await query.executeQuery(CompiledQuery.raw(step.text, [...step.values]))
}
