import type { Network } from '../../lib/network.ts'
import { maxMethodNames } from '../../lib/methods.ts'
import { toBucket } from './latencyBuckets.ts'
import type { MeteredKey, MeteredUse } from './meter.ts'
import { addLatency, createUsageCounts, getCell, packCounts, packStored, packUse } from './usageCounts.ts'
import type { UsageCounts } from './usageCounts.ts'
import { dayMs, floorTo, minuteMs } from '../../lib/time.ts'
import { getUtcDay } from '../../lib/utcDay.ts'

/** The counts of one key in one minute and run, to be written. */
export interface MinuteRow {
  /** The start of the minute, in milliseconds since 1970. */
  readonly at: number
  readonly run: string
  readonly key: MeteredKey
  readonly total: number
  readonly counts: string
  readonly used: string
  readonly stored: string
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
    use?: MeteredUse,
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
  /** Its UTC day, such as `2026-11-21`. */
  readonly day: string
  readonly run: string
  readonly byKey: Map<string, Entry>
  /** How many entries have unwritten counts. */
  unwritten: number
  isInFlight: boolean
  isDropped: boolean
  /** It has the counts of another day than the one that they were made on. */
  readonly isOtherDay: boolean
}

interface BufferState {
  readonly newRun: () => string
  readonly maxWaiting: number
  readonly onDropped: (calls: number) => void
  run: string
  current: Minute
  /** Past minutes with unwritten counts. They receive no more counts, except for those of another day. */
  older: Minute[]
  /** When the oldest count was made that no pass has started to write. */
  countedAt: number | undefined
  /** When the oldest count was made that the pass writes. */
  passedAt: number | undefined
  /** The names that are counted separately. */
  readonly methods: Set<string>
}

const createMinute = (run: string, time: number, isOtherDay = false): Minute => ({
  at: floorTo(time, minuteMs),
  day: getUtcDay(time).text,
  run,
  byKey: new Map(),
  unwritten: 0,
  isInFlight: false,
  isDropped: false,
  isOtherDay,
})

const toMethodLabel = (state: BufferState, method: string): string => {
  if (state.methods.has(method)) return method
  if (state.methods.size >= maxMethodNames) return 'other'
  state.methods.add(method)
  return method
}

const getBacklog = (minutes: readonly Minute[]): number => minutes.reduce((sum, { unwritten }) => sum + unwritten, 0)

const countUnwritten = ({ byKey }: Minute): number => {
  let calls = 0
  for (const { total, written } of byKey.values()) calls += total - written
  return calls
}

const dropOldest = (state: BufferState): void => {
  let waiting = getBacklog(state.older)
  while (waiting > state.maxWaiting) {
    // Never a minute that is being written: how many of its counts would be lost is not known yet.
    const dropped = state.older.find(({ isInFlight }) => !isInFlight)
    if (dropped === undefined) return
    dropped.isDropped = true
    state.older = state.older.filter((minute) => minute !== dropped)
    waiting -= dropped.unwritten
    state.onDropped(countUnwritten(dropped))
  }
}

const startMinute = (state: BufferState, time: number): void => {
  if (time < state.current.at) state.run = state.newRun()
  if (state.current.unwritten > 0) state.older.push(state.current)
  state.current = createMinute(state.run, time)
  dropOldest(state)
}

/**
 * Gets the minute of calls that were charged to another day than the one that they ended on: the last minute of an earlier day, or the first of a later
 * one, if the clock of the limits is ahead. Each has a run of its own, so that no row is started twice.
 */
const getOtherDay = (state: BufferState, day: string, time: number): Minute => {
  const start = Date.parse(day)
  const at = start < time ? start + dayMs - minuteMs : start
  let minute = state.older.find((one) => one.isOtherDay && one.at === at)
  if (minute === undefined) state.older.push((minute = createMinute(state.newRun(), at, true)))
  return minute
}

const createBatch = (state: BufferState, taken: readonly { minute: Minute; entry: Entry }[]): MeterBatch => {
  const rows = taken.map(({ minute: { at, run }, entry: { key, total, counts } }) => ({
    at,
    run,
    key,
    total,
    counts: packCounts(counts),
    used: packUse(counts),
    stored: packStored(counts),
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
      state.older = state.older.filter(({ unwritten }) => unwritten > 0)
    },
    failed: () => setInFlight(false),
  }
}

function* eachUnwritten(state: BufferState): Generator<{ minute: Minute; entry: Entry }> {
  for (const minute of [...state.older, state.current])
    for (const entry of minute.byKey.values())
      if (entry.written < entry.total && !minute.isDropped) yield { minute, entry }
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
  const run = newRun()
  const state: BufferState = {
    newRun,
    maxWaiting,
    onDropped,
    run,
    current: createMinute(run, startedAt),
    older: [],
    countedAt: undefined,
    passedAt: undefined,
    methods: new Set(),
  }
  return {
    // oxlint-disable-next-line max-params -- Allocating an object per call would cost more than counting it.
    count: (key, network, method, outcome, durationMs, calls, time, use) => {
      if (time < state.current.at || time >= state.current.at + minuteMs) startMinute(state, time)
      state.countedAt ??= time
      const isToday = use?.day === undefined || use.day === state.current.day
      const minute = isToday ? state.current : getOtherDay(state, use.day, time)
      let entry = minute.byKey.get(key.id)
      if (entry === undefined) {
        entry = { key, counts: createUsageCounts(), total: 0, written: 0 }
        minute.byKey.set(key.id, entry)
      }
      const cell =
        entry.counts.cells.get(network)?.get(method)?.get(outcome) ??
        getCell(entry.counts, network, toMethodLabel(state, method), outcome)
      cell.total += calls
      if (use !== undefined) {
        cell.units += use.units
        cell.bytes += use.bytes
        cell.stored += use.stored ?? 0
      }
      if (durationMs !== undefined) addLatency(cell, toBucket(durationMs), calls)
      if (entry.written === entry.total) minute.unwritten += 1
      entry.total += calls
    },
    startPass: () => {
      const entries = eachUnwritten(state)
      state.passedAt ??= state.countedAt
      state.countedAt = undefined
      return (maxRows) => {
        const taken: { minute: Minute; entry: Entry }[] = []
        while (taken.length < maxRows) {
          const { value } = entries.next()
          if (value === undefined) break
          taken.push(value)
        }
        if (taken.length === 0 && maxRows > 0) state.passedAt = undefined
        return createBatch(state, taken)
      }
    },
    get backlogRows() {
      return getBacklog(state.older) + state.current.unwritten
    },
    get oldestAt() {
      return state.passedAt ?? state.countedAt
    },
    unwrittenCalls: () => [...state.older, state.current].reduce((sum, minute) => sum + countUnwritten(minute), 0),
  }
}
