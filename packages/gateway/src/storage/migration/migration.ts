import type { Db } from '../tables.ts'

/** The SQL that differs between the databases. */
export interface Dialect {
  readonly bytes: string
  readonly integer: string
  /** An auto-increment primary key that never reuses a number. */
  readonly counted: string
  /** The SQL after the columns of a table. */
  readonly tableOptions: string
  /** The same for a table that is stored in the order of its primary key. */
  readonly clustered: string
  /** Whether tables can be partitioned. */
  readonly hasPartitions: boolean
}

/** A migration to the next version of the tables. Never change a released migration: fix it in the next one. */
export interface Migration {
  readonly version: number
  /**
   * The oldest version whose programs keep working with these tables: see `docs/service/upgrading.md`. Set it if the tables lose something that the
   * programs of an earlier version use.
   * @default the same as before
   */
  readonly oldestSupported?: number
  readonly statements: (dialect: Dialect) => readonly string[]
  /** What SQL cannot do, after the statements, in the same transaction. */
  readonly run?: (transaction: Db) => Promise<void>
}
