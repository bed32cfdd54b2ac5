import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** A statement whose rows have a type. */
export interface PreparedRows<Row> {
  readonly all: (...values: SQLInputValue[]) => readonly Row[]
  readonly get: (...values: SQLInputValue[]) => Row | undefined
  /** @returns How many rows it has changed. */
  readonly run: (...values: SQLInputValue[]) => number
}

/** Prepares a statement. */
export const prepareRows = <Row>(database: DatabaseSync, sql: string): PreparedRows<Row> => {
  const statement = database.prepare(sql)
  return {
    all: (...values) => statement.all(...values) as unknown as readonly Row[],
    get: (...values) => statement.get(...values) as unknown as Row | undefined,
    run: (...values) => Number(statement.run(...values).changes),
  }
}
