import { dayMs, floorTo } from './time.ts'

/** A UTC day and its month. */
export interface UtcDay {
  /** Days since 1970. */
  readonly day: number
  /** Months since year 0. */
  readonly month: number
  /** `2026-11-21`. */
  readonly text: string
  /** The end of the day, in milliseconds since 1970. */
  readonly endMs: number
  /** The end of the month, in milliseconds since 1970. */
  readonly monthEndMs: number
}

/** Converts a number of days since 1970. */
export const toUtcDay = (day: number): UtcDay => {
  const date = new Date(day * dayMs)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return {
    day,
    month: year * 12 + month,
    text: date.toISOString().slice(0, 10),
    endMs: (day + 1) * dayMs,
    monthEndMs: Date.UTC(year, month + 1),
  }
}

/** Gets the UTC day of a time in milliseconds since 1970. */
export const getUtcDay = (ms: number): UtcDay => toUtcDay(Math.floor(ms / dayMs))

/** Gets the start of the UTC day of a time. Both are in milliseconds since 1970. */
export const startOfUtcDay = (ms: number): number => floorTo(ms, dayMs)
