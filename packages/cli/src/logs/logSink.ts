import type { Log, LogCursor, ReorgError } from '@keyrail/fetch'

/** Receives the logs of an export. */
export interface LogSink {
  /** The position after the last log received. */
  readonly cursor: () => LogCursor
  /** How many logs it holds. */
  readonly logs: () => number
  /**
   * Writes a log.
   * @param log - The log.
   * @param cursor - The position after it.
   * @returns A promise to await if the reader is slow.
   */
  readonly write: (log: Log, cursor: LogCursor) => Promise<void> | undefined
  /** Moves the cursor: there are no more logs before it. */
  readonly advance: (cursor: LogCursor) => void
  /**
   * Removes the logs that a reorg replaced.
   * @returns How many logs it removed.
   * @throws {CliError} if they cannot be removed.
   */
  readonly rollBack: (reorg: ReorgError['reorg']) => number
}
