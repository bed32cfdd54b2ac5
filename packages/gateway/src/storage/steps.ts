import { setImmediate as nextRound } from 'node:timers/promises'
import type { Step, Write } from './database.ts'
import type { Db } from './tables.ts'

/** Most rows in one statement. */
const maxRows = 250
/** Rows in one statement of SQLite, where statements stay prepared: few different numbers. PostgreSQL waits less with fewer statements. */
const sqliteLengths = [maxRows, 50, 10, 1]

/** Splits rows into the chunks that one statement inserts. */
const toChunks = <Row>(kind: Db['kind'], rows: readonly Row[]): (readonly Row[])[] => {
  const chunks: (readonly Row[])[] = []
  for (let start = 0; start < rows.length;) {
    const left = Math.min(rows.length - start, maxRows)
    const length = kind === 'postgres' ? left : (sqliteLengths.find((each) => each <= left) ?? 1)
    chunks.push(rows.slice(start, start + length))
    start += length
  }
  return chunks
}

/** Gets the name of a column in the database. */
export const toSnakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Builds a statement with `?` in place of each value. */
export const toStep = (kind: Db['kind'], text: string, values: Step['values']): Step => {
  let number = 0
  return { text: kind === 'sqlite' ? text : text.replaceAll('?', () => `$${(number += 1)}`), values }
}

/** How rows are inserted into a table. */
export interface Insertion<Column extends string> {
  readonly into: string
  /** The members of a row that are stored. */
  readonly columns: readonly Column[]
  readonly conflict: string
}

/** Builds the statements that insert rows. */
export const toInserts = <Column extends string>(
  kind: Db['kind'],
  { into, columns, conflict }: Insertion<Column>,
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): readonly Step[] => {
  const names = columns.map(toSnakeCase).join(', ')
  const row = `(${columns.map(() => '?').join(', ')})`
  return toChunks(kind, rows).map((chunk) =>
    toStep(
      kind,
      `insert into ${into} (${names}) values ${chunk.map(() => row).join(', ')} on conflict ${conflict}`,
      chunk.flatMap((each) => columns.map((name) => each[name])),
    ),
  )
}

/** The rows to delete. */
export interface Deletion {
  readonly table: string
  /** The columns of its primary key. */
  readonly columns: string
  /** The condition, with one `?` for the value. */
  readonly where: string
  readonly value: string | number
}

const deletedAtOnce = 250

/** Deletes rows, a few at a time. @param stopped - Called before each step; true stops. @throws {StorageError} */
export const deleteRows = async (
  { db: { kind }, write }: { readonly db: Db; readonly write: Write },
  { table, columns, where, value }: Deletion,
  stopped: () => boolean = () => false,
): Promise<void> => {
  const text = `delete from ${table} where (${columns}) in
    (select ${columns} from ${table} where ${where} limit ${deletedAtOnce}) returning 1 as deleted`
  while (!stopped()) {
    const [deleted = []] = await write([toStep(kind, text, [value])], { light: true })
    if (deleted.length < deletedAtOnce) return
    await nextRound()
  }
}
