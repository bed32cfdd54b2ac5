const dayMs = 86_400_000

/** A UTC day, with the month that it lies in. */
export interface QuotaDay {
  /** Days since 1970. */
  readonly day: number
  /** Months since year 0. */
  readonly month: number
  /** `2026-11-21`. */
  readonly text: string
  /** When it ends, in milliseconds since 1970. */
  readonly endMs: number
  readonly monthEndMs: number
}

/** The UTC day of that number, counted from 1970. */
export const quotaDay = (day: number): QuotaDay => {
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

/** The UTC day that a time lies in. */
export const quotaDayAt = (ms: number): QuotaDay => quotaDay(Math.floor(ms / dayMs))
