import { setImmediate as nextRound } from 'node:timers/promises'
import type { Step } from '../../storage/database.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { FailureLog } from './createFailureLog.ts'
import type { MeterBatch, MeterBuffer } from './createMeterBuffer.ts'
import { toMinuteSteps } from './usageRows.ts'

/** Statements that are written in one transaction with counts. */
export interface AlongsideBatch {
  readonly steps: readonly Step[]
  /** How many rows the statements write. A transaction writes about 250 rows, counts included. */
  readonly rows: number
  /** Called if the transaction failed. It may have been committed all the same, if the connection was lost. */
  failed(): void
}

/** Writes the counts of a buffer. */
export interface MeterWriter {
  /** Writes everything. One flush runs at a time. */
  readonly flush: () => Promise<void>
  /** Resolves once no write has completed for a while. */
  readonly waitForStall: () => { readonly stalled: Promise<void>; readonly cancel: () => void }
}

/** How long `close` waits for PostgreSQL while no write completes. */
const closePatienceMs = 5_000
/** Rows written in one transaction. */
const maxRows = 250
/** The same while the meter closes: with a slow connection, few large transactions take less time. */
const maxRowsAtClose = 1_000

/**
 * Creates a writer of counts.
 * @param options.isClosing - Whether this is the last chance to write.
 */
export const createMeterWriter = ({
  storage: { db, write },
  buffer,
  alongside,
  log,
  isClosing,
}: {
  storage: Pick<Storage, 'db' | 'write'>
  buffer: MeterBuffer
  alongside: { take(): AlongsideBatch | undefined } | undefined
  log: FailureLog
  isClosing: () => boolean
}): MeterWriter => {
  /** Called after each commit. */
  let onProgress = (): void => {}
  /** Keys whose app and user are in the database. */
  const storedKeys = new Set<string>()

  const writeBatch = async (batch: MeterBatch, extra: AlongsideBatch | undefined): Promise<void> => {
    const { rows } = batch
    try {
      const keys = [...new Map(rows.map(({ key }) => [key.id, key])).values()].filter(({ id }) => !storedKeys.has(id))
      const steps = rows.length === 0 ? [] : toMinuteSteps(db.kind, { rows, keys })
      // A key is written once. If a server that crashed or was replaced had lost it, no metrics would show its calls until the next start.
      const light = db.kind === 'sqlite' || keys.length === 0
      await write([...(extra?.steps ?? []), ...steps], { light })
      // Bounded; a key that is dropped from the set is only written again.
      if (storedKeys.size > 1_000_000) storedKeys.clear()
      for (const { id } of keys) storedKeys.add(id)
    } catch (error) {
      batch.failed()
      extra?.failed()
      throw error
    }
    batch.written()
    onProgress()
  }

  const writeAll = async (): Promise<void> => {
    const isLast = isClosing()
    const nextBatch = buffer.startPass()
    let extra = alongside?.take()
    for (;;) {
      const batch = nextBatch(Math.max(0, (isLast ? maxRowsAtClose : maxRows) - (extra?.rows ?? 0)))
      if (batch.rows.length === 0 && extra === undefined) break
      await writeBatch(batch, extra)
      extra = isLast ? alongside?.take() : undefined
      await nextRound()
    }
  }

  const flushOnce = async (): Promise<void> => {
    try {
      await writeAll()
    } catch (error) {
      log.failed(error)
      throw error
    }
    log.succeeded()
  }
  let flushing: Promise<void> = Promise.resolve()

  return {
    flush: () => (flushing = flushing.catch(() => {}).then(flushOnce)),
    waitForStall: () => {
      let timer: NodeJS.Timeout | undefined
      const stalled = new Promise<void>((resolve) => {
        onProgress = () => {
          clearTimeout(timer)
          timer = setTimeout(resolve, closePatienceMs)
        }
        onProgress()
      })
      const cancel = (): void => {
        clearTimeout(timer)
        onProgress = () => {}
      }
      return { stalled, cancel }
    },
  }
}
