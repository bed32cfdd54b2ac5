import type { Network } from '../../lib/network.ts'
import { toBucket } from './latencyBuckets.ts'
import type { MeteredKey } from './meter.ts'
import { addLatency, createUsageCounts, getCell, packCounts } from './usageCounts.ts'
import type { UsageCounts } from './usageCounts.ts'
import { floorTo, minuteMs } from './usageTime.ts'

/** The counts of one key in one minute and run, to be written. */
export interface MinuteRow {
  /** The start of the minute, in milliseconds since 1970. */
  readonly at: number
  readonly run: string
  readonly key: MeteredKey
  readonly total: number
  readonly counts: string
}

/** Rows that are being written. Exactly one of its functions must be called. */
export interface MeterBatch {
  readonly rows: readonly MinuteRow[]
  written(): void
  failed(): void
}

/** Counts calls in memory until they are written. It does no I/O. */
export interface MeterBuffer {
  /** Counts calls at a time, in milliseconds since 1970. */
  count(
    key: MeteredKey,
    network: Network,
    method: string,
    outcome: string,
    durationMs: number | undefined,
    calls: number,
    time: number,
  ): void
  /**
   * Starts a pass over all rows that have unwritten counts, the oldest minute first. Each row is in one batch at most, so that a pass ends
   * although calls are counted all the time. Only one pass may run at a time.
   * @returns A function that returns the next batch of at most `maxRows` rows. An empty batch ends the pass unless `maxRows` is 0.
   */
  startPass(): (maxRows: number) => MeterBatch
  /** How many rows have unwritten counts. */
  readonly backlogRows: number
  /** When the oldest unwritten count was made, in milliseconds since 1970. */
  readonly oldestAt: number | undefined
  /** How many calls are not written. */
  unwrittenCalls(): number
}

/** Most method names that are counted separately; later ones count as `other`. */
const maxMethods = 200

/** The counts of one key in one minute. */
interface Entry {
  readonly key: MeteredKey
  readonly counts: UsageCounts
  total: number
  /** How much of `total` is in the database. */
  written: number
}

/** One minute of one run. */
interface Minute {
  readonly at: number
  readonly run: string
  readonly byKey: Map<string, Entry>
  /** How many entries have unwritten counts. */
  unwritten: number
  isInFlight: boolean
  isDropped: boolean
}

/**
 * Creates a buffer of counts. They are cumulative per minute and run, so that repeating a write is harmless. A new run starts when the clock
 * steps back, so that no row is started twice.
 * @param options.time - The current time, in milliseconds since 1970.
 * @param options.newRun - Creates an id that no other run has.
 * @param options.maxWaiting - Most unwritten rows of past minutes. Beyond it the oldest minute is dropped.
 * @param options.onDropped - Called with the number of calls that were dropped.
 */
export const createMeterBuffer = ({
  time: startedAt,
  newRun,
  maxWaiting,
  onDropped,
}: {
  time: number
  newRun: () => string
  maxWaiting: number
  onDropped: (calls: number) => void
}): MeterBuffer => {
  let run = newRun()
  const createMinute = (time: number): Minute => ({
    at: floorTo(time, minuteMs),
    run,
    byKey: new Map(),
    unwritten: 0,
    isInFlight: false,
    isDropped: false,
  })
  let current = createMinute(startedAt)
  /** Past minutes with unwritten counts. They receive no more counts. */
  let older: Minute[] = []
  /** When the oldest count was made that no pass has started to write. */
  let countedAt: number | undefined
  /** When the oldest count was made that the pass writes. */
  let passedAt: number | undefined

  const methods = new Set<string>()
  const toMethodLabel = (method: string): string => {
    if (methods.has(method)) return method
    if (methods.size >= maxMethods) return 'other'
    methods.add(method)
    return method
  }

  const getBacklog = (minutes: readonly Minute[]): number => minutes.reduce((sum, { unwritten }) => sum + unwritten, 0)
  const countUnwritten = ({ byKey }: Minute): number => {
    let calls = 0
    for (const { total, written } of byKey.values()) calls += total - written
    return calls
  }

  const dropOldest = (): void => {
    let waiting = getBacklog(older)
    while (waiting > maxWaiting) {
      // Never a minute that is being written: how many of its counts would be lost is not known yet.
      const dropped = older.find(({ isInFlight }) => !isInFlight)
      if (dropped === undefined) return
      dropped.isDropped = true
      older = older.filter((minute) => minute !== dropped)
      waiting -= dropped.unwritten
      onDropped(countUnwritten(dropped))
    }
  }

  const startMinute = (time: number): void => {
    if (time < current.at) run = newRun()
    if (current.unwritten > 0) older.push(current)
    current = createMinute(time)
    dropOldest()
  }

  const createBatch = (taken: readonly { minute: Minute; entry: Entry }[]): MeterBatch => {
    const rows = taken.map(({ minute: { at, run: minuteRun }, entry: { key, total, counts } }) => ({
      at,
      run: minuteRun,
      key,
      total,
      counts: packCounts(counts),
    }))
    const setInFlight = (isInFlight: boolean): void => {
      for (const { minute } of taken) minute.isInFlight = isInFlight
    }
    setInFlight(true)
    return {
      rows,
      written: () => {
        setInFlight(false)
        for (const [index, { minute, entry }] of taken.entries()) {
          entry.written = rows[index]?.total ?? entry.written
          if (entry.written === entry.total) minute.unwritten -= 1
        }
        older = older.filter(({ unwritten }) => unwritten > 0)
      },
      failed: () => setInFlight(false),
    }
  }

  function* eachUnwritten(): Generator<{ minute: Minute; entry: Entry }> {
    for (const minute of [...older, current])
      for (const entry of minute.byKey.values())
        if (entry.written < entry.total && !minute.isDropped) yield { minute, entry }
  }

  return {
    // oxlint-disable-next-line max-params -- Allocating an object per call would cost more than counting it.
    count: (key, network, method, outcome, durationMs, calls, time) => {
      if (time < current.at || time >= current.at + minuteMs) startMinute(time)
      countedAt ??= time
      let entry = current.byKey.get(key.id)
      if (entry === undefined) {
        entry = { key, counts: createUsageCounts(), total: 0, written: 0 }
        current.byKey.set(key.id, entry)
      }
      const cell =
        entry.counts.cells.get(network)?.get(method)?.get(outcome) ??
        getCell(entry.counts, network, toMethodLabel(method), outcome)
      cell.total += calls
      if (durationMs !== undefined) addLatency(cell, toBucket(durationMs), calls)
      if (entry.written === entry.total) current.unwritten += 1
      entry.total += calls
    },
    startPass: () => {
      const entries = eachUnwritten()
      passedAt ??= countedAt
      countedAt = undefined
      return (maxRows) => {
        const taken: { minute: Minute; entry: Entry }[] = []
        while (taken.length < maxRows) {
          const { value } = entries.next()
          if (value === undefined) break
          taken.push(value)
        }
        if (taken.length === 0 && maxRows > 0) passedAt = undefined
        return createBatch(taken)
      }
    },
    get backlogRows() {
      return getBacklog(older) + current.unwritten
    },
    get oldestAt() {
      return passedAt ?? countedAt
    },
    unwrittenCalls: () => [...older, current].reduce((sum, minute) => sum + countUnwritten(minute), 0),
  }
}
