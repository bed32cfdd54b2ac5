import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Step, StepRows } from '../write.ts'

/** Writes at once, in this thread. */
export interface QuickWriter {
  /** Runs one statement without waiting for the disk. @returns Its rows; `undefined` where it was not run, as somebody else writes or it failed. */
  write(step: Step): StepRows | undefined
  close(): void
}

/**
 * Makes a writer for statements so small that asking another thread would cost more. It never waits: neither for others who write nor for the disk.
 * @param file - Absolute, made and migrated before the first write.
 */
export const createQuickWriter = (file: string): QuickWriter => {
  let database: DatabaseSync | undefined
  let closed = false
  const prepared = new Map<string, StatementSync>()
  const open = (): DatabaseSync => {
    const opened = new DatabaseSync(file, { timeout: 0 })
    opened.exec('pragma synchronous = normal')
    // The log is copied into the file by those who may wait.
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
        // Whoever waits is told why, by the other way.
        return undefined
      }
    },
    close: () => {
      closed = true
      database?.close()
    },
  }
}
