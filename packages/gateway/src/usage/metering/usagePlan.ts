import { dayMs, floorTo, hourMs, minuteMs } from '../../lib/time.ts'

/** How long usage is retained, in milliseconds. */
export interface UsageRetention {
  /** Minutes. @default 8 days */
  readonly minutesMs: number
  /** Hours. @default 90 days */
  readonly hoursMs: number
  /** Days. @default 730 days */
  readonly daysMs: number
}

/** The default retention. */
export const defaultRetention: UsageRetention = Object.freeze({
  minutesMs: 8 * dayMs,
  hoursMs: 90 * dayMs,
  daysMs: 730 * dayMs,
})

/** From when on each table has its rows, in milliseconds since 1970. */
export interface StoredFrom {
  readonly minutesFrom: number
  readonly hoursFrom: number
  readonly daysFrom: number
}

/** The range of stored times, and how far they are rolled up, in milliseconds since 1970; `Infinity` if all are rolled up. */
export interface UsageState extends StoredFrom {
  readonly hoursTo: number
  readonly daysTo: number
}

/** A mark that a run has written counts of this hour, or that an hour of this day was rolled up, which is not rolled up itself yet. */
export interface PendingMark {
  /** The start of the hour or day, in milliseconds since 1970. */
  readonly at: number
  readonly run: string
  /** Identifies the last write. */
  readonly version: number
}

/** A table that is rolled up from a finer one. */
export interface Level {
  readonly name: 'hour' | 'day'
  readonly from: 'usageMinutes' | 'usageHours'
  readonly into: 'usage_hours' | 'usage_days'
  readonly spanMs: number
  readonly stepMs: number
  /** From when on the finer table has its rows. */
  readonly storedFrom: 'minutesFrom' | 'hoursFrom'
}

/** All levels, the finer one first. */
export const levels: readonly [Level, Level] = [
  {
    name: 'hour',
    from: 'usageMinutes',
    into: 'usage_hours',
    spanMs: hourMs,
    stepMs: minuteMs,
    storedFrom: 'minutesFrom',
  },
  { name: 'day', from: 'usageHours', into: 'usage_days', spanMs: dayMs, stepMs: hourMs, storedFrom: 'hoursFrom' },
]

/** How long after its end an hour or a day is rolled up. Counts that arrive later mark it again. */
export const graceMs: number = minuteMs

/** An hour or a day to roll up. */
export interface DueSpan {
  readonly at: number
  /** The marks that the roll-up makes obsolete. */
  readonly marks: readonly PendingMark[]
  /** Whether its finer rows are past their retention, so that it must not be rolled up again. */
  readonly isExpired: boolean
}

/**
 * Plans what to roll up at a level: each marked hour or day once, the oldest first. Counts that are written during the roll-up are left to the
 * next one, so that it always ends.
 * @param options.storedFrom - From when on the finer table has its rows.
 * @param options.now - Milliseconds since 1970.
 */
export const planRollUp = (
  { spanMs, storedFrom }: Level,
  marks: readonly PendingMark[],
  { stored, now }: { stored: StoredFrom; now: number },
): readonly DueSpan[] => {
  const byStart = new Map<number, PendingMark[]>()
  for (const mark of marks) {
    if (mark.at + spanMs + graceMs > now) continue
    const known = byStart.get(mark.at)
    if (known === undefined) byStart.set(mark.at, [mark])
    else known.push(mark)
  }
  return [...byStart]
    .map(([at, own]) => ({ at, marks: own, isExpired: at < stored[storedFrom] }))
    .sort((one, other) => one.at - other.at)
}

/**
 * Returns up to when usage is rolled up. Readers use the finer table from there on.
 * @param oldest - The oldest marked hour and day, if there are any.
 */
export const toUsageState = (
  stored: StoredFrom,
  oldest: { hour: number | undefined; day: number | undefined },
): UsageState => {
  // Counts that arrive after their minutes were removed are dropped, so their mark does not matter.
  const hoursTo = Math.max(oldest.hour ?? Infinity, stored.minutesFrom)
  const daysTo = Math.max(Math.min(oldest.day ?? Infinity, floorTo(hoursTo, dayMs)), stored.hoursFrom)
  return { ...stored, hoursTo, daysTo }
}

/**
 * Plans which rows are removed: those past their retention, but never rows that are not rolled up.
 * @param options.now - Milliseconds since 1970.
 * @returns From when on each table keeps its rows. Never earlier than before.
 */
export const planRetention = (
  state: UsageState,
  { retention, now }: { retention: UsageRetention; now: number },
): StoredFrom => {
  const { minutesMs, hoursMs, daysMs } = retention
  const minutesFrom = Math.max(state.minutesFrom, floorTo(Math.min(now - minutesMs, state.hoursTo), hourMs))
  // Counts of a minute that is still stored may arrive late, and then all hours of their day are needed.
  const hoursEnd = Math.min(now - hoursMs, state.daysTo, minutesFrom)
  const hoursFrom = Math.max(state.hoursFrom, floorTo(hoursEnd, dayMs))
  const daysFrom = Math.max(state.daysFrom, floorTo(Math.min(now - daysMs, hoursFrom), dayMs))
  return { minutesFrom, hoursFrom, daysFrom }
}

/** A part of a period, and the table that has its rows. */
export interface PeriodPart {
  readonly table: 'usageMinutes' | 'usageHours' | 'usageDays'
  readonly from: number
  readonly to: number
}

/** Splits a period by table: each part uses the coarsest table that fits the step, or the one that still has the rows. */
export const splitByTable = (
  { hoursTo, daysTo, minutesFrom, hoursFrom }: UsageState,
  { from, to, step }: { from: number; to: number; step: 'minute' | 'hour' | 'day' },
): readonly PeriodPart[] => {
  const minutesBegin = step === 'minute' ? minutesFrom : hoursTo
  const hoursBegin = Math.min(step === 'day' ? daysTo : hoursFrom, minutesBegin)
  return [
    { table: 'usageDays', from, to: Math.min(to, hoursBegin) },
    { table: 'usageHours', from: Math.max(from, hoursBegin), to: Math.min(to, minutesBegin) },
    { table: 'usageMinutes', from: Math.max(from, minutesBegin), to },
  ]
}

/** A partition of a table: its rows are at or after `from` and before `to`, in milliseconds since 1970. */
export interface Partition {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** How many days have a partition before their first row. */
const daysAhead = 3

/**
 * Plans the partitions of a table, one for each day.
 * @param options.storedFrom - From when on rows are stored.
 * @param options.now - Milliseconds since 1970.
 * @returns The days from today on that need a partition, and the names of the partitions to drop.
 */
export const planPartitions = (
  partitions: readonly Partition[],
  { storedFrom, now }: { storedFrom: number; now: number },
): { readonly create: readonly number[]; readonly drop: readonly string[] } => {
  const today = floorTo(now, dayMs)
  const days = Array.from({ length: daysAhead + 1 }, (_, index) => today + index * dayMs)
  return {
    create: days.filter((day) => !partitions.some(({ from, to }) => from < day + dayMs && to > day)),
    drop: partitions.filter(({ to }) => to <= storedFrom).map(({ name }) => name),
  }
}

/** Parses the bounds of a partition as PostgreSQL prints them. @returns `undefined` for the default partition. */
export const parseBounds = (text: string): { from: number; to: number } | undefined => {
  const [, from, to] = /^FOR VALUES FROM \((?:'(-?\d+)'|MINVALUE)\) TO \('(-?\d+)'\)$/.exec(text) ?? []
  return to === undefined ? undefined : { from: from === undefined ? -Infinity : Number(from), to: Number(to) }
}
