import { minuteMs } from '../lib/time.ts'
import { connectionMethod, isFailure, notificationMethod } from '../usage/metering/meter.ts'
import type { Meter, Outcome } from '../usage/metering/meter.ts'

/** Calls over time, the oldest first. */
export interface CallSeries {
  /** The start of the first second or minute, in milliseconds since 1970. */
  readonly from: number
  /** The last number is that of the current second or minute, which has not ended. */
  readonly totals: readonly number[]
  /** How many of them failed. */
  readonly failures: readonly number[]
}

/** The calls of an instance in the last 2 minutes and 2 hours, or since it started. */
export interface CallRates {
  readonly count: (method: string, outcome: Outcome, calls?: number) => void
  readonly read: () => {
    readonly perSecond: CallSeries
    readonly perMinute: CallSeries
    /** Failed calls of `perMinute`, the most frequent outcome first. */
    readonly failures: readonly { readonly outcome: string; readonly total: number }[]
  }
  /** The calls of the last minutes, and how many of them failed because of nodes. */
  readonly readRecent: (minutes: number) => { readonly total: number; readonly failed: number }
}

/** How many seconds, and how many minutes, are remembered. */
const slotCount = 120

/** Counts by name in the last `slotCount` seconds or minutes. Its memory does not grow with the number of calls. */
const createSlots = (slotMs: number, startedAt: number) => {
  const rows = new Map<string, Float64Array>()
  /** Which second or minute, since 1970, a place of the rows has. */
  const numbers = new Float64Array(slotCount)
  const toNumber = (now: number): number => Math.floor(now / slotMs)
  let first = toNumber(startedAt)
  return {
    add: (now: number, name: string, calls: number): void => {
      const number = toNumber(now)
      const place = number % slotCount
      if (numbers[place] !== number) {
        for (const row of rows.values()) row[place] = 0
        numbers[place] = number
        // The clock was set back.
        if (number < first) first = number
      }
      let row = rows.get(name)
      if (row === undefined) rows.set(name, (row = new Float64Array(slotCount)))
      row[place] = (row[place] ?? 0) + calls
    },
    read: (now: number) => {
      const last = toNumber(now)
      const oldest = Math.min(last, Math.max(first, last - slotCount + 1))
      const list = (name: string): number[] =>
        Array.from({ length: last - oldest + 1 }, (_, index) => {
          const place = (oldest + index) % slotCount
          return numbers[place] === oldest + index ? (rows.get(name)?.[place] ?? 0) : 0
        })
      return { from: oldest * slotMs, list, names: [...rows.keys()] }
    },
  }
}

const [total, failed] = ['total', 'failed']
/** Other failures are of the caller, who may exceed a limit or have a wrong origin all the time. */
const failedByNodes: Outcome = 'upstreamFailed'

const addUp = (counts: readonly number[]): number => counts.reduce((sum, calls) => sum + calls, 0)

/** Creates the counters of an instance that has just started. @param now - Milliseconds since 1970. */
export const createCallRates = (now: () => number): CallRates => {
  const seconds = createSlots(1_000, now())
  const minutes = createSlots(minuteMs, now())
  const toSeries = ({ from, list }: ReturnType<typeof seconds.read>): CallSeries => ({
    from,
    totals: list(total),
    failures: list(failed),
  })
  return {
    count: (method, outcome, calls = 1) => {
      // Those are no calls. A call of such a method is rejected.
      if (outcome === 'succeeded' && (method === connectionMethod || method === notificationMethod)) return
      const at = now()
      const names = isFailure(outcome) ? [total, failed] : [total]
      for (const name of names) {
        seconds.add(at, name, calls)
        minutes.add(at, name, calls)
      }
      if (names.length > 1) minutes.add(at, outcome, calls)
    },
    read: () => {
      const at = now()
      const ofMinutes = minutes.read(at)
      const failures = ofMinutes.names
        .filter((name) => name !== total && name !== failed)
        .map((outcome) => ({ outcome, total: addUp(ofMinutes.list(outcome)) }))
      return {
        perSecond: toSeries(seconds.read(at)),
        perMinute: toSeries(ofMinutes),
        failures: failures.filter((one) => one.total > 0).sort((one, other) => other.total - one.total),
      }
    },
    readRecent: (count) => {
      const { list } = minutes.read(now())
      const [all, ofNodes] = [total, failedByNodes].map((name) => addUp(list(name).slice(-count)))
      return { total: all ?? 0, failed: ofNodes ?? 0 }
    },
  }
}

/** Creates a meter that also counts the rates of this instance. */
export const withCallRates = (meter: Meter, rates: Pick<CallRates, 'count'>): Meter => ({
  ...meter,
  count: (...counted) => {
    const [, , method, outcome, , calls] = counted
    rates.count(method, outcome, calls)
    meter.count(...counted)
  },
})
