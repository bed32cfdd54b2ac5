import { randomBytes } from 'node:crypto'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import { createTimeBudget } from '../../lib/withTimeout.ts'
import { toBucket } from './latencyBuckets.ts'
import type { Meter, MeteredKey } from './meter.ts'
import { defaultRetention, pruneUsage, rollUp } from './rollUp.ts'
import type { UsageRetention } from './rollUp.ts'
import { addLatency, createUsageCounts, getCell, networkIndex, packCounts } from './usageCounts.ts'
import type { UsageCounts } from './usageCounts.ts'
import { minuteMs, writeMinutes } from './usageRows.ts'

/** Events of a meter. */
export type MeterEvent =
  /** Counts could not be written for so long that the oldest were dropped. */
  | { readonly event: 'meterLost'; readonly calls: number }
  /** Counts could not be written. The meter retries. */
  | { readonly event: 'meterFailed' }

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
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  readonly onEvent?: ((event: MeterEvent) => void) | undefined
}

/** Most method names that are counted separately; later ones count as `other`. */
const maxMethods = 200
/** How long `close` waits for PostgreSQL. */
const closeWithinMs = 3_000
/** Rows written in one transaction. */
const maxRows = 250

/** The counts of one key in one minute. */
interface KeyMinute {
  readonly key: MeteredKey
  readonly counts: UsageCounts
  total: number
  /** How much of `total` is in the database. */
  written: number
}

/** One minute of one run. A new run starts when the clock steps back, so that no row is started twice. */
interface Minute {
  readonly at: number
  readonly run: string
  readonly byKey: Map<string, KeyMinute>
}

/**
 * Creates a meter. Counts are cumulative per minute and run, so that repeating a write is harmless. A process that is killed loses at most
 * the counts of the last `flushMs` and of one write.
 */
export const createMeter = (options: MeterOptions): Meter => {
  const { db } = options.storage
  const flushMs = options.flushMs ?? 500
  const rollUpMs = options.rollUpMs ?? 60_000
  const retention = { ...defaultRetention, ...options.retention }
  const maxWaiting = options.maxWaiting ?? 200_000
  const now = options.now ?? Date.now
  const report = (event: MeterEvent): void => {
    try {
      options.onEvent?.(event)
    } catch {
      // A listener that throws must not stop the meter.
    }
  }

  const newRun = (): string => randomBytes(9).toString('base64url')
  let run = newRun()
  const createMinute = (time: number): Minute => ({
    at: Math.floor(time / minuteMs) * minuteMs,
    run,
    byKey: new Map(),
  })
  let current = createMinute(now())
  /** Past minutes that are not fully written yet. They receive no more counts. */
  let older: Minute[] = []
  let writing: Minute | undefined
  let closing: Promise<void> | undefined

  const methods = new Set<string>()
  const toMethodLabel = (method: string): string => {
    if (methods.has(method)) return method
    if (methods.size >= maxMethods) return 'other'
    methods.add(method)
    return method
  }

  const startMinute = (time: number): void => {
    if (time < current.at) run = newRun()
    if (current.byKey.size > 0) older.push(current)
    current = createMinute(time)
    let waiting = older.reduce((sum, { byKey }) => sum + byKey.size, 0)
    while (waiting > maxWaiting) {
      // Never the minute that is being written: how many of its counts would be lost is not known yet.
      const dropped = older.find((minute) => minute !== writing)
      if (dropped === undefined) break
      older = older.filter((minute) => minute !== dropped)
      waiting -= dropped.byKey.size
      let calls = 0
      for (const { total, written } of dropped.byKey.values()) calls += total - written
      if (calls > 0) report({ event: 'meterLost', calls })
    }
  }

  /** Keys whose app and user are in the database. */
  const storedKeys = new Set<string>()

  const writeRows = async (minute: Minute, entries: readonly KeyMinute[]): Promise<void> => {
    const totals = entries.map(({ total }) => total)
    const rows = entries.map(({ key, total, counts }) => ({ keyId: key.id, total, counts: packCounts(counts) }))
    const keys = entries.map(({ key }) => key).filter(({ id }) => !storedKeys.has(id))
    await writeMinutes(options.storage, { at: minute.at, run: minute.run, rows, keys })
    // Bounded; a key that is dropped from the set is only written again.
    if (storedKeys.size > 1_000_000) storedKeys.clear()
    for (const { id } of keys) storedKeys.add(id)
    for (const [index, entry] of entries.entries()) entry.written = totals[index] ?? entry.written
  }

  const writeEntries = async (minute: Minute): Promise<void> => {
    let entries: KeyMinute[] = []
    for (const entry of minute.byKey.values()) {
      if (entry.written < entry.total) entries.push(entry)
      if (entries.length < maxRows) continue
      await writeRows(minute, entries)
      entries = []
      await nextRound()
    }
    if (entries.length > 0) await writeRows(minute, entries)
  }

  const writeMinute = async (minute: Minute): Promise<void> => {
    writing = minute
    try {
      await writeEntries(minute)
    } finally {
      writing = undefined
    }
  }

  const writeAll = async (): Promise<void> => {
    for (let minute = older[0]; minute !== undefined; minute = older[0]) {
      await writeMinute(minute)
      older = older.filter((other) => other !== minute)
    }
    // The current minute may move to `older` during this write. It stays there, because it may have new counts by then.
    await writeMinute(current)
  }

  let flushing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => (flushing = flushing.catch(() => {}).then(writeAll))

  let failing = false
  let timer: NodeJS.Timeout | undefined
  const scheduleFlush = (): void => {
    timer = setTimeout(() => {
      flush()
        .then(
          () => (failing = false),
          () => {
            if (!failing) report({ event: 'meterFailed' })
            failing = true
          },
        )
        .finally(() => {
          if (closing === undefined) scheduleFlush()
        })
        .catch(() => {})
    }, flushMs)
    timer.unref()
  }
  scheduleFlush()

  let maintenance: Promise<void> | undefined
  const stopped = (): boolean => closing !== undefined
  const maintain = async (): Promise<void> => {
    try {
      await rollUp(db, { now: now(), stopped })
      await pruneUsage(db, { now: now(), retention, stopped })
    } catch {
      // The next round makes up for it.
    }
  }
  const maintenanceTimer =
    rollUpMs === 0
      ? undefined
      : setInterval(() => {
          maintenance ??= maintain().finally(() => (maintenance = undefined))
        }, rollUpMs)
  maintenanceTimer?.unref()

  const finish = async (): Promise<void> => {
    clearTimeout(timer)
    clearInterval(maintenanceTimer)
    // A database that does not respond must not prevent the process from exiting.
    const inTime = createTimeBudget(db.kind === 'postgres' ? closeWithinMs : Infinity)
    // One retry: a broken connection must not lose the last counts.
    const written = inTime(Promise.all([maintenance, flush().catch(flush)])).catch(() => false)
    if (await written) return
    let calls = 0
    for (const { byKey } of [...older, current])
      for (const { total, written: before } of byKey.values()) calls += total - before
    if (calls > 0) report({ event: 'meterLost', calls })
  }

  return {
    // oxlint-disable-next-line max-params -- Allocating an object per call would cost more than counting it.
    count: (key, network, method, outcome, durationMs, calls = 1) => {
      if (closing !== undefined) return
      const time = now()
      if (time < current.at || time >= current.at + minuteMs) startMinute(time)
      let entry = current.byKey.get(key.id)
      if (entry === undefined) {
        entry = { key, counts: createUsageCounts(), total: 0, written: 0 }
        current.byKey.set(key.id, entry)
      }
      const index = networkIndex(network)
      const { cells } = entry.counts
      const cell =
        cells[index].get(method)?.get(outcome) ?? getCell(entry.counts, index, toMethodLabel(method), outcome)
      cell.total += calls
      addLatency(cell, toBucket(durationMs), calls)
      entry.total += calls
    },
    flush,
    close: () => (closing ??= finish()),
  }
}
