import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Step, StepRows } from '../database.ts'

/** Writes synchronously, in this thread. */
export interface QuickWriter {
  /** Runs one statement without waiting for the disk. @returns Its rows; `undefined` if it did not run because the file is locked, or failed. */
  write(step: Step): StepRows | undefined
  close(): void
}

/**
 * Creates a writer for statements that are faster than a message to another thread. It never waits, neither for a lock nor for the disk.
 * @param file - An absolute path. The file must be migrated before the first write.
 */
export const createQuickWriter = (file: string): QuickWriter => {
  let database: DatabaseSync | undefined
  let closed = false
  const prepared = new Map<string, StatementSync>()
  const open = (): DatabaseSync => {
    const opened = new DatabaseSync(file, { timeout: 0 })
    opened.exec('pragma synchronous = normal')
    // The other connections, which may wait, copy the log into the file.
    opened.exec('pragma wal_autocheckpoint = 0')
    return opened
  }
  return {
    write: ({ text, values }) => {
      if (closed) return undefined
      try {
        database ??= open()
        let statement = prepared.get(text)
        if (statement === undefined) prepared.set(text, (statement = database.prepare(text)))
        return statement.all(...(values as SQLInputValue[])) as StepRows
      } catch {
        // The caller retries with the writer thread, which reports the error.
        return undefined
      }
    },
    close: () => {
      closed = true
      database?.close()
    },
  }
}
