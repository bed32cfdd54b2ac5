/** What the two databases call the same things. */
export interface Dialect {
  readonly bytes: string
  readonly integer: string
  /** A column that numbers its rows upwards, and gives no number twice. */
  readonly counted: string
  /** What stands behind a table's columns. */
  readonly tableOptions: string
  /** The same for a table whose rows are kept in the order of the primary key. */
  readonly clustered: string
}

/** One step from a version of the tables to the next. Once released it is never changed: what is wrong in it is fixed by the next. */
export interface Migration {
  readonly version: number
  readonly statements: (dialect: Dialect) => readonly string[]
}
