import { randomBytes } from 'node:crypto'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Step } from '../../storage/database.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { createFailureLog } from './createFailureLog.ts'
import { createMeterBuffer } from './createMeterBuffer.ts'
import type { MeterBatch } from './createMeterBuffer.ts'
import type { MeterEvent, StoredMeter } from './meter.ts'
import { startMaintenance } from './startMaintenance.ts'
import type { Upkeep } from './startMaintenance.ts'
import { defaultRetention } from './usagePlan.ts'
import type { UsageRetention } from './usagePlan.ts'
import { toMinuteSteps } from './usageRows.ts'

/** Statements that are written in one transaction with counts. */
export interface AlongsideBatch {
  readonly steps: readonly Step[]
  /** How many rows the statements write. A transaction writes about 250 rows, counts included. */
  readonly rows: number
  /** Called if the transaction failed. It may have been committed all the same, if the connection was lost. */
  failed(): void
}

/** Options of `createMeter`. */
export interface MeterOptions {
  readonly storage: Pick<Storage, 'db' | 'write'>
  /** How often counts are written, in milliseconds. @default 500 */
  readonly flushMs?: number | undefined
  /** How often this instance rolls up usage and removes expired rows, in milliseconds; 0: never. @default 60_000 */
  readonly rollUpMs?: number | undefined
  readonly retention?: Partial<UsageRetention> | undefined
  /** Most rows (one per key and minute) buffered while the database is unreachable. @default 200_000 */
  readonly maxWaiting?: number | undefined
  /**
   * Further statements to write, so that they cost no transaction of their own. `take` is called once a flush, and by `close` until it returns
   * `undefined`. The transaction rarely waits for the disk.
   */
  readonly alongside?: { take(): AlongsideBatch | undefined } | undefined
  /** More tables to maintain when usage is rolled up. @default none */
  readonly upkeep?: Upkeep | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  readonly onEvent?: ((event: MeterEvent) => void) | undefined
}

/** How long `close` waits for PostgreSQL while no write completes. */
const closePatienceMs = 5_000
/** Rows written in one transaction. */
const maxRows = 250
/** The same while the meter closes: with a slow connection, few large transactions take less time. */
const maxRowsAtClose = 1_000

/**
 * Creates a meter that writes to the storage. A process that is killed loses at most the counts of the last `flushMs` and of one write.
 * Commits at most once per `flushMs`, and once more per 250 rows.
 */
export const createMeter = (options: MeterOptions): StoredMeter => {
  const { db, write } = options.storage
  const { flushMs = 500, now = Date.now, alongside } = options
  const report = (event: MeterEvent): void => {
    try {
      options.onEvent?.(event)
    } catch {
      // A listener that throws must not stop the meter.
    }
  }
  const newRun = (): string => randomBytes(9).toString('base64url')
  let lostCalls = 0
  const reportLost = (calls: number): void => {
    if (calls === 0) return
    lostCalls += calls
    report({ event: 'meterLost', calls })
  }
  let skippedRows = 0
  const buffer = createMeterBuffer({
    time: now(),
    newRun,
    maxWaiting: options.maxWaiting ?? 200_000,
    onDropped: reportLost,
  })
  const writeLog = createFailureLog('write', report)
  const rollUpLog = createFailureLog('rollUp', report)
  const maintenance = startMaintenance({
    storage: options.storage,
    everyMs: options.rollUpMs ?? 60_000,
    leader: newRun(),
    retention: { ...defaultRetention, ...options.retention },
    upkeep: options.upkeep,
    now,
    log: rollUpLog,
    onEvent: (event) => {
      if (event.event === 'meterRowsSkipped') skippedRows += event.rows
      report(event)
    },
  })
  let closing: Promise<void> | undefined
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
    const isClosing = closing !== undefined
    const nextBatch = buffer.startPass()
    let extra = alongside?.take()
    for (;;) {
      const batch = nextBatch(Math.max(0, (isClosing ? maxRowsAtClose : maxRows) - (extra?.rows ?? 0)))
      if (batch.rows.length === 0 && extra === undefined) break
      await writeBatch(batch, extra)
      extra = isClosing ? alongside?.take() : undefined
      await nextRound()
    }
  }

  const flushOnce = async (): Promise<void> => {
    try {
      await writeAll()
    } catch (error) {
      writeLog.failed(error)
      throw error
    }
    writeLog.succeeded()
  }
  let flushing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => (flushing = flushing.catch(() => {}).then(flushOnce))

  let timer: NodeJS.Timeout | undefined
  const scheduleFlush = (): void => {
    timer = setTimeout(() => {
      flush()
        // Reported by `flushOnce`; the next flush retries.
        .catch(() => {})
        .finally(() => {
          if (closing === undefined) scheduleFlush()
        })
        .catch(() => {})
    }, flushMs)
    timer.unref()
  }
  scheduleFlush()

  /** Resolves once no write has completed for a while. */
  const waitForStall = (): { stalled: Promise<void>; cancel: () => void } => {
    let stallTimer: NodeJS.Timeout | undefined
    const stalled = new Promise<void>((resolve) => {
      onProgress = () => {
        clearTimeout(stallTimer)
        stallTimer = setTimeout(resolve, closePatienceMs)
      }
      onProgress()
    })
    return { stalled, cancel: () => clearTimeout(stallTimer) }
  }

  const finish = async (): Promise<void> => {
    clearTimeout(timer)
    // One retry: a broken connection must not lose the last counts.
    const written = Promise.all([maintenance.stop(), flush().catch(flush)]).catch(() => {})
    if (db.kind === 'sqlite') await written
    else {
      // A database that does not respond must not prevent the process from exiting.
      const { stalled, cancel } = waitForStall()
      await Promise.race([written, stalled])
      cancel()
      onProgress = () => {}
    }
    reportLost(buffer.unwrittenCalls())
  }

  return {
    // oxlint-disable-next-line max-params -- Allocating an object per call would cost more than counting it.
    count: (key, network, method, outcome, durationMs, calls = 1) => {
      if (closing !== undefined) return
      buffer.count(key, network, method, outcome, durationMs, calls, now())
    },
    flush,
    close: () => (closing ??= finish()),
    status: () => ({
      lagMs: buffer.oldestAt === undefined ? 0 : Math.max(0, now() - buffer.oldestAt),
      backlogRows: buffer.backlogRows,
      rollUpLagMs: maintenance.getRollUpLag(),
      lostCalls,
      skippedRows,
      failures: { write: writeLog.failures, rollUp: rollUpLog.failures },
    }),
  }
}
