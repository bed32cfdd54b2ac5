/** A statement with its values, in the words of the database: `?1` in SQLite, `$1` in PostgreSQL. */
export interface Step {
  readonly text: string
  readonly values: readonly (string | number | null)[]
}

/** Rows as the database names them. */
export type StepRows = readonly Readonly<Record<string, unknown>>[]

/**
 * Runs statements in order in one transaction, all of them or none. In SQLite another thread does it, so that ours never waits for the disk.
 * @param options.light - The disk need not have it when this resolves: a process that is killed loses nothing of it, a power cut may. @default false
 * @returns The rows that each gave.
 * @throws {StorageError}
 */
export type Write = (steps: readonly Step[], options?: { readonly light?: boolean }) => Promise<readonly StepRows[]>

/**
 * Runs one statement at once, where that takes no longer than asking for it would: in SQLite, while nobody else writes. The disk need not have it.
 * @returns Its rows; `undefined` where it was not run, and must be written the other way.
 */
export type WriteNow = (step: Step) => StepRows | undefined
