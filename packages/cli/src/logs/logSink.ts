import type { Log, LogCursor, ReorgError } from '@keyrail/fetch'

/** Where logs go, and how far they have come there. */
export interface LogSink {
  /** What is there stands before this. */
  readonly cursor: () => LogCursor
  /** How many logs are there. */
  readonly logs: () => number
  /**
   * Takes a log.
   * @param log - The log.
   * @param cursor - Stands after it.
   * @returns A promise to wait for, where whoever reads is slower.
   */
  readonly take: (log: Log, cursor: LogCursor) => Promise<void> | undefined
  /** Learns that there is no more log before this. */
  readonly reach: (cursor: LogCursor) => void
  /**
   * Takes back what a reorganization made void.
   * @returns How many logs that were.
   * @throws {CliError} where what was written is out of reach.
   */
  readonly takeBack: (reorg: ReorgError['reorg']) => number
}
