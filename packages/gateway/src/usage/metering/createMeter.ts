import { randomBytes } from 'node:crypto'
import type { Storage } from '../../storage/openStorage.ts'
import { createFailureLog } from './createFailureLog.ts'
import { createMeterBuffer } from './createMeterBuffer.ts'
import { createMeterWriter } from './createMeterWriter.ts'
import type { AlongsideBatch } from './createMeterWriter.ts'
import type { MeterEvent, StoredMeter } from './meter.ts'
import { startMaintenance } from './startMaintenance.ts'
import type { Upkeep } from './startMaintenance.ts'
import { defaultRetention } from './usagePlan.ts'
import type { UsageRetention } from './usagePlan.ts'

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

/**
 * Creates a meter that writes to the storage. A process that is killed loses at most the counts of the last `flushMs` and of one write.
 * Commits at most once per `flushMs`, and once more per 250 rows.
 */
export const createMeter = (options: MeterOptions): StoredMeter => {
  const { flushMs = 500, now = Date.now } = options
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
  const writer = createMeterWriter({
    storage: options.storage,
    buffer,
    alongside: options.alongside,
    log: writeLog,
    isClosing: () => closing !== undefined,
  })

  let timer: NodeJS.Timeout | undefined
  const scheduleFlush = (): void => {
    timer = setTimeout(() => {
      writer
        .flush()
        // The writer has reported it, and the next flush tries again.
        .catch(() => {})
        .finally(() => {
          if (closing === undefined) scheduleFlush()
        })
        .catch(() => {})
    }, flushMs)
    timer.unref()
  }
  scheduleFlush()

  const finish = async (): Promise<void> => {
    clearTimeout(timer)
    // One retry: a broken connection must not lose the last counts.
    const written = Promise.all([maintenance.stop(), writer.flush().catch(writer.flush)]).catch(() => {})
    if (options.storage.db.kind === 'sqlite') await written
    else {
      // A database that does not respond must not prevent the process from exiting.
      const { stalled, cancel } = writer.waitForStall()
      await Promise.race([written, stalled])
      cancel()
    }
    reportLost(buffer.unwrittenCalls())
  }

  return {
    // oxlint-disable-next-line max-params -- Allocating an object per call would cost more than counting it.
    count: (key, network, method, outcome, durationMs, calls = 1, use) => {
      if (closing !== undefined) return
      buffer.count(key, network, method, outcome, durationMs, calls, now(), use)
    },
    flush: writer.flush,
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
