import { setTimeout as wait } from 'node:timers/promises'
import { isSqliteBusy, sqliteError } from './sqliteError.ts'

/**
 * Tries again while another process holds the file. SQLite's own busy timeout would sleep on the only thread there is.
 * @param waitMs - For how long, in milliseconds; 0 is one try.
 * @throws {StorageError}
 */
export const untilFree = async <T>(work: () => T, waitMs: number): Promise<T> => {
  const end = performance.now() + waitMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    try {
      return work()
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() + pauseMs > end) throw sqliteError(error)
    }
    await wait(pauseMs)
  }
}
