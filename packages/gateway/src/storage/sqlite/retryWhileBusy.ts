import { setTimeout as wait } from 'node:timers/promises'
import { isSqliteBusy, toSqliteError } from './sqliteError.ts'

/**
 * Retries work while another process has locked the file. SQLite's own busy timeout would block the thread.
 * @param waitMs - How long to retry, in milliseconds; 0 for a single attempt.
 * @throws {StorageError}
 */
export const retryWhileBusy = async <T>(work: () => T, waitMs: number): Promise<T> => {
  const end = performance.now() + waitMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    try {
      return work()
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() + pauseMs > end) throw toSqliteError(error)
    }
    await wait(pauseMs)
  }
}
