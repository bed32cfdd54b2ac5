import type { Access } from './access.ts'
import type { Db } from './tables.ts'

/** A statement and its values, in the SQL of the database: `?1` in SQLite, `$1` in PostgreSQL. */
export interface Step {
  readonly text: string
  readonly values: readonly (string | number | null)[]
}

/** Rows with the column names of the database. */
export type StepRows = readonly Readonly<Record<string, unknown>>[]

/**
 * Runs statements in order in one transaction: all or none. In SQLite another thread runs them, so that this thread never waits for the disk.
 * @param options.light - Resolves before the data is on disk: it survives a killed process, but not a power cut. @default false
 * @returns The rows of each statement.
 * @throws {StorageError}
 */
export type Write = (steps: readonly Step[], options?: { readonly light?: boolean }) => Promise<readonly StepRows[]>

/**
 * Runs one statement synchronously if that is faster than another thread: in SQLite, while nothing else writes. Does not wait for the disk.
 * @returns Its rows; `undefined` if it did not run. Then use `Write`.
 */
export type WriteNow = (step: Step) => StepRows | undefined

/** The connections to PostgreSQL. */
export interface PoolState {
  readonly active: number
  readonly idle: number
  /** Queries that wait for a connection. */
  readonly waiting: number
  readonly max: number
}

/** An open database: what SQLite and PostgreSQL provide for `openStorage`. */
export interface OpenDatabase {
  readonly db: Db
  readonly write: Write
  readonly writeNow: WriteNow
  findAccess(hash: string): Access | undefined | Promise<Access | undefined>
  findAccessByKid(kid: string): Access | undefined | Promise<Access | undefined>
  /** The connections of PostgreSQL; `undefined` with SQLite. */
  readonly pool?: (() => PoolState) | undefined
  /** Listens for signs that the database may be unavailable. @default never called */
  onProblem?(listener: () => void): void
  /** Waits for work in flight, then closes. Can be called again. */
  close(): Promise<void>
}
