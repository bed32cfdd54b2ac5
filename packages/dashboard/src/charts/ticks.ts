const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** The distances that ticks can have, in milliseconds. */
const intervals = [
  ...[1, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28, 56].map((count) => count * day),
]
// Days are counted from a Monday, so that weeks start there.
const firstMonday = 4 * day

/** A tick of a time axis. */
export interface Tick {
  /** Of the time that it marks. */
  readonly index: number
  readonly text: string
}

/**
 * Chooses the ticks of a time axis: as many round times as fit, such as full hours or midnights.
 * @param times - Evenly spaced, in milliseconds since 1970.
 * @param options.most - How many ticks fit.
 * @param options.timeZone - @default the reader's
 */
export function toTicks(
  times: readonly number[],
  { most, timeZone }: { readonly most: number; readonly timeZone?: 'UTC' | undefined },
): readonly Tick[] {
  const toLocal = (time: number): number =>
    (timeZone === 'UTC' ? time : time - new Date(time).getTimezoneOffset() * minute) - firstMonday
  const step = (times[1] ?? 0) - (times[0] ?? 0)
  const stepBefore = (index: number): number => times[index - 1] ?? (times[index] ?? 0) - step
  for (const interval of intervals) {
    if (interval < step) continue
    const isTick = (time: number, index: number): boolean =>
      Math.floor(toLocal(time) / interval) !== Math.floor(toLocal(stepBefore(index)) / interval)
    const ticks = times.flatMap((time, index) => (isTick(time, index) ? [{ index, time }] : []))
    if (ticks.length > most) continue
    const format = new Intl.DateTimeFormat(undefined, {
      timeZone,
      ...(interval < day ? { timeStyle: 'short' } : { month: 'short', day: 'numeric' }),
    })
    return ticks.map(({ index, time }) => ({ index, text: format.format(time) }))
  }
  return []
}
