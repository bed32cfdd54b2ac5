const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const utcDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const whole = new Intl.NumberFormat(undefined)
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const exact = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 })
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const exactMoment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const shortMoment = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
})
const rate = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 })

/** A day, in the reader's language. */
export const dayText = (time: string): string => day.format(new Date(time))
/** A day and a time on it. */
export const momentText = (time: string): string => moment.format(new Date(time))
/** A day and a time on it, with seconds. */
export const exactMomentText = (time: string): string => exactMoment.format(new Date(time))
/** A day and a time on it, with seconds and without the year. */
export const shortMomentText = (time: string): string => shortMoment.format(new Date(time))
/** A time of day. */
export const clockText = (time: string): string => clock.format(new Date(time))
/** A day of UTC. */
export const utcDayText = (time: string): string => utcDay.format(new Date(time))
/**
 * When something resets by UTC: in UTC, and in the reader's own time zone if it differs.
 * @param timeZone - The reader's. @default the browser's
 */
export const resetText = (time: string, timeZone?: string): string => {
  const [utc, own] = ['UTC', timeZone].map((zone) =>
    new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: zone }).format(
      new Date(time),
    ),
  )
  return utc === own ? `${utc} UTC` : `${utc} UTC, ${own} your time`
}
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const
const minutesStoredMs = 8 * 86_400_000
/** When a key was last used: to the minute, or to the day of UTC if the service has only that. */
export const lastUsedText = (time: string | null): string => {
  if (time === null) return 'Not used yet'
  const isRecent = Date.now() - Date.parse(time) < minutesStoredMs
  return `Last used ${isRecent ? momentText(time) : utcDayText(time)}`
}
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'always' })
/**
 * How long ago a minute was, in the largest whole unit, as in `5 minutes ago`.
 * @param now - Milliseconds since 1970. @default Date.now()
 */
export const agoText = (time: string, now: number = Date.now()): string => {
  const seconds = Math.max(60, (now - Date.parse(time)) / 1_000)
  const [unit, size] = units.find(([, least]) => seconds >= least) ?? units[2]
  return relative.format(-Math.floor(seconds / size), unit)
}
/** A whole number. */
export const countText = (value: number): string => whole.format(value)
/** A number in few characters. */
export const shortText = (value: number): string => short.format(value)
/** A part of one, in percent. Never rounded up to all. */
export const rateText = (value: number | null): string =>
  value === null ? '–' : rate.format(value < 1 ? Math.min(value, 0.9999) : 1)
/** A share of failures, in percent. Never rounded down to none. */
export const errorRateText = (failed: number, total: number): string =>
  rate.format(failed === 0 ? 0 : Math.max(failed / total, 0.0001))
/** Milliseconds. */
export const msText = (value: number | null): string =>
  value === null ? '–' : `${whole.format(value >= 10 ? Math.round(value) : Math.round(value * 10) / 10)} ms`
/** Milliseconds, as exact as they were measured. */
export const msExactText = (value: number): string => `${exact.format(value)} ms`
/** A time of day, with seconds. */
export const secondText = (time: number): string => seconds.format(time)
const byteUnits = [
  ['terabyte', 1e12],
  ['gigabyte', 1e9],
  ['megabyte', 1e6],
  ['kilobyte', 1e3],
] as const
/** An amount of memory or disk. */
export const bytesText = (bytes: number): string => {
  const [unit, size] = byteUnits.find(([, least]) => bytes >= least) ?? byteUnits[3]
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, maximumFractionDigits: 1 }).format(bytes / size)
}
/** A limit. */
export const limitText = (value: number | null): string => (value === null ? 'no limit' : whole.format(value))

/** A duration in seconds, as in `1 hour 30 minutes`. */
export const spanText = (seconds: number): string => {
  let rest = seconds
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [`${countText(count)} ${unit}${count === 1 ? '' : 's'}`]
  })
  return parts.join(' ')
}
