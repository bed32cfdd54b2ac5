/** Units by day. */
export interface DayCount {
  readonly get: (day: number) => number
  readonly add: (day: number, units: number) => void
}

/** More days than a clock is ever set back by mistake. */
const MAX_DAYS = 8

/** Creates a count in which each day has its own number, so a clock that is set forward and back again finds what was counted before. */
export function createDayCount(): DayCount {
  const counts = new Map<number, number>()
  const get = (day: number): number => counts.get(day) ?? 0
  return {
    get,
    add: (day, units) => {
      counts.set(day, get(day) + units)
      if (counts.size <= MAX_DAYS) return
      const [first] = counts.keys()
      counts.delete(first as number)
    },
  }
}
