import type { InstanceView } from '@keyrail/gateway'

const minuteMs = 60_000
/** A minute counts as one with errors if at least this share of its calls failed. */
const minShare = 0.05
const minFailures = 3
/** As many minutes without errors end a period of errors. */
const maxGap = 5

/** A period in which many calls failed. */
export interface ErrorPeriod {
  /** Its first minute. */
  readonly at: string
  /** Whether it may have started earlier: the calls of earlier minutes are not known. */
  readonly isCutOff: boolean
  /** Whether it has ended. */
  readonly isOver: boolean
  readonly failed: number
  readonly total: number
}

const addUp = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

/** Finds the last period with errors in calls by minute; `undefined` if there is none. */
export function findErrorStart({ from, totals, failures }: InstanceView['perMinute']): ErrorPeriod | undefined {
  const isBad = (index: number): boolean => {
    const [total = 0, failed = 0] = [totals[index], failures[index]]
    return failed >= minFailures && failed >= total * minShare
  }
  const last = totals.findLastIndex((_, index) => isBad(index))
  if (last === -1) return undefined
  let first = last
  for (let index = last - 1; index >= 0 && first - index <= maxGap; index -= 1) if (isBad(index)) first = index
  return {
    at: new Date(Date.parse(from) + first * minuteMs).toISOString(),
    isCutOff: first === 0,
    isOver: totals.length - 1 - last > maxGap,
    failed: addUp(failures.slice(first, last + 1)),
    total: addUp(totals.slice(first, last + 1)),
  }
}
