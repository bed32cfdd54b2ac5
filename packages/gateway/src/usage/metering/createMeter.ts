import { randomBytes } from 'node:crypto'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import { createTimeBudget } from '../../lib/withTimeout.ts'
import { bucketOf } from './latencyBuckets.ts'
import type { Meter, MeteredKey } from './meter.ts'
import { defaultRetention, pruneUsage, rollUp } from './rollUp.ts'
import type { UsageRetention } from './rollUp.ts'
import { addLatency, cellOf, createUsageCounts, networkIndex, packCounts } from './usageCounts.ts'
import type { UsageCounts } from './usageCounts.ts'
import { minuteMs, writeMinutes } from './usageRows.ts'

/** What a meter tells of its work. */
export type MeterEvent =
  /** What was counted could not be written, for so long that the oldest of it was let go. */
  | { readonly event: 'meterLost'; readonly items: number }
  /** It could not be written, and is tried again. */
  | { readonly event: 'meterFailed' }

/** What a meter is made of. */
export interface MeterOptions {
  readonly storage: Pick<Storage, 'db' | 'write'>
  /** How long after it was counted something is written, in milliseconds. @default 500 */
  readonly flushMs?: number | undefined
  /** How often usage is rolled up, and what is too old removed, in milliseconds; 0: not by this instance. @default 60_000 */
  readonly rollUpMs?: number | undefined
  readonly retention?: Partial<UsageRetention> | undefined
  /** How many keys' minutes may wait to be written while the database is gone. @default 200_000 */
  readonly maxWaiting?: number | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
  readonly onEvent?: ((event: MeterEvent) => void) | undefined
}

/** Names of methods that are told apart; what comes after is `other`. */
const maxMethods = 200
/** How long closing waits for PostgreSQL. */
const closeWithinMs = 3_000
/** Rows written in one transaction. */
const maxRows = 250

/** What one key did in one minute. */
interface KeyMinute {
  readonly key: MeteredKey
  readonly counts: UsageCounts
  total: number
  /** Of the total: how much is in the database. */
  written: number
}

/** One minute of one run. A run ends where the clock goes back, so that no row is ever begun twice. */
interface Minute {
  readonly at: number
  readonly run: string
  readonly byKey: Map<string, KeyMinute>
}

/**
 * Makes a meter over the storage. Counts are cumulative by minute and run, so that writing them again changes nothing, and a run that is killed
 * leaves at most `flushMs` and one write behind.
 */
export const createMeter = (options: MeterOptions): Meter => {
  const { db } = options.storage
  const flushMs = options.flushMs ?? 500
  const rollUpMs = options.rollUpMs ?? 60_000
  const retention = { ...defaultRetention, ...options.retention }
  const maxWaiting = options.maxWaiting ?? 200_000
  const now = options.now ?? Date.now
  const tell = (event: MeterEvent): void => {
    try {
      options.onEvent?.(event)
    } catch {
      // Who listens must not stop who counts.
    }
  }

  const newRun = (): string => randomBytes(9).toString('base64url')
  let run = newRun()
  const beginMinute = (time: number): Minute => ({
    at: Math.floor(time / minuteMs) * minuteMs,
    run,
    byKey: new Map(),
  })
  let current = beginMinute(now())
  /** Minutes that are over and not fully written yet. They receive no more counts. */
  let older: Minute[] = []
  let writing: Minute | undefined
  let closing: Promise<void> | undefined

  const methods = new Set<string>()
  const labelOf = (method: string): string => {
    if (methods.has(method)) return method
    if (methods.size >= maxMethods) return 'other'
    methods.add(method)
    return method
  }

  const turnMinute = (time: number): void => {
    if (time < current.at) run = newRun()
    if (current.byKey.size > 0) older.push(current)
    current = beginMinute(time)
    let waiting = older.reduce((sum, { byKey }) => sum + byKey.size, 0)
    while (waiting > maxWaiting) {
      // The minute that is being written stays: how much of it gets lost is not known yet.
      const lost = older.find((minute) => minute !== writing)
      if (lost === undefined) break
      older = older.filter((minute) => minute !== lost)
      waiting -= lost.byKey.size
      let items = 0
      for (const { total, written } of lost.byKey.values()) items += total - written
      if (items > 0) tell({ event: 'meterLost', items })
    }
  }

  /** Keys whose owners are in the database. */
  const known = new Set<string>()

  const writeRows = async (minute: Minute, entries: readonly KeyMinute[]): Promise<void> => {
    const totals = entries.map(({ total }) => total)
    const rows = entries.map(({ key, total, counts }) => ({ keyId: key.id, total, counts: packCounts(counts) }))
    const keys = entries.map(({ key }) => key).filter(({ id }) => !known.has(id))
    await writeMinutes(options.storage, { at: minute.at, run: minute.run, rows, keys })
    // Bounded, as a key may be forgotten: it is only told again.
    if (known.size > 1_000_000) known.clear()
    for (const { id } of keys) known.add(id)
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
    // The current minute may end and move to `older` during its own write. It stays there, as it may have new counts by then.
    await writeMinute(current)
  }

  let flushing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => (flushing = flushing.catch(() => {}).then(writeAll))

  let failing = false
  let timer: NodeJS.Timeout | undefined
  const flushLater = (): void => {
    timer = setTimeout(() => {
      flush()
        .then(
          () => (failing = false),
          () => {
            if (!failing) tell({ event: 'meterFailed' })
            failing = true
          },
        )
        .finally(() => {
          if (closing === undefined) flushLater()
        })
        .catch(() => {})
    }, flushMs)
    timer.unref()
  }
  flushLater()

  let upkeep: Promise<void> | undefined
  const stopped = (): boolean => closing !== undefined
  const keepUp = async (): Promise<void> => {
    try {
      await rollUp(db, { now: now(), stopped })
      await pruneUsage(db, { now: now(), retention, stopped })
    } catch {
      // Made good the next time.
    }
  }
  const upkeepTimer =
    rollUpMs === 0
      ? undefined
      : setInterval(() => {
          upkeep ??= keepUp().finally(() => (upkeep = undefined))
        }, rollUpMs)
  upkeepTimer?.unref()

  const end = async (): Promise<void> => {
    clearTimeout(timer)
    clearInterval(upkeepTimer)
    // A database that does not answer must not keep the process from ending.
    const inTime = createTimeBudget(db.kind === 'postgres' ? closeWithinMs : Infinity)
    // A write that fails once is repeated, as it is while the process runs: a broken connection must not cost the last counts.
    const written = inTime(Promise.all([upkeep, flush().catch(flush)])).catch(() => false)
    if (await written) return
    let items = 0
    for (const { byKey } of [...older, current])
      for (const { total, written: before } of byKey.values()) items += total - before
    if (items > 0) tell({ event: 'meterLost', items })
  }

  return {
    // oxlint-disable-next-line max-params -- An object for each call would cost more than counting it.
    count: (key, network, method, outcome, durationMs, items = 1) => {
      if (closing !== undefined) return
      const time = now()
      if (time < current.at || time >= current.at + minuteMs) turnMinute(time)
      let entry = current.byKey.get(key.id)
      if (entry === undefined) {
        entry = { key, counts: createUsageCounts(), total: 0, written: 0 }
        current.byKey.set(key.id, entry)
      }
      const place = networkIndex(network)
      const { cells } = entry.counts
      const cell = cells[place].get(method)?.get(outcome) ?? cellOf(entry.counts, place, labelOf(method), outcome)
      cell.total += items
      addLatency(cell, bucketOf(durationMs), items)
      entry.total += items
    },
    flush,
    close: () => (closing ??= end()),
  }
}
