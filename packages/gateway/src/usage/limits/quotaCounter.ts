import { toUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import type { Quota, QuotaGrant, QuotaUsage } from './usageLimits.ts'

/*
 * The words of this folder. A store counts for all processes: the database on one machine, Redis on a cluster.
 * - quota: the units of a day and a month that an app has, or a user for all API keys. The column `account` of the database has its id.
 * - grant: units for the calls of a request. They are charged to its quota.
 * - reserve: the store sets units aside for a process, which can then grant them alone.
 * - return: give back units of calls that no node received.
 * - unreported: granted without Redis, which does not have these units in its counter yet.
 * - ledger: the table of the database with all that was charged.
 */

/** The units that a quota has used in its current day and month. */
export interface QuotaCounter {
  day: UtcDay
  dayUsed: number
  monthUsed: number
}

/** Units that were granted to the first calls of a request. `wait`: only the store that counts for all processes can decide. */
export type Granted = { readonly granted: number; readonly charged: number } | 'wait'

/** How long it is believed that others have not returned anything, in milliseconds. */
export const believedMs = 1_000

/** Whether a quota has a limit. */
export const isLimited = ({ perDay, perMonth }: Quota): boolean => perDay !== null || perMonth !== null

/** Starts the day `day` if it is later than the counter's. A clock that steps back reopens nothing. */
export const advance = (counter: QuotaCounter, day: UtcDay): void => {
  if (day.day <= counter.day.day) return
  if (day.month > counter.day.month) counter.monthUsed = 0
  counter.day = day
  counter.dayUsed = 0
}

/** Returns how many units are left in both windows; negative if a limit was lowered, infinite without limits. */
export const getLeft = ({ dayUsed, monthUsed }: QuotaCounter, { perDay, perMonth }: Quota): number =>
  Math.min((perDay ?? Infinity) - dayUsed, (perMonth ?? Infinity) - monthUsed)

/** Returns how many units the first `calls` calls cost. Calls beyond `weights` cost 1. */
export const getCost = (calls: number, weights: readonly number[] | undefined): number => {
  if (weights === undefined) return calls
  let cost = 0
  for (let index = 0; index < calls; index += 1) cost += weights[index] ?? 1
  return cost
}

/** Returns how many of the first `calls` calls fit into `units`: never a later call in place of an earlier one. */
export const countFitting = (calls: number, weights: readonly number[] | undefined, units: number): number => {
  if (weights === undefined) return Math.max(0, Math.min(calls, units))
  let left = units
  for (let index = 0; index < calls; index += 1) {
    left -= weights[index] ?? 1
    if (left < 0) return index
  }
  return calls
}

/** The decision on the calls of a request. */
export interface Decided {
  /** How many calls requested units. */
  readonly calls: number
  readonly granted: number
  readonly charged: number
}

/**
 * Builds the grant of a request.
 * @param counter - The counter after the charge.
 */
export const toQuotaGrant = (
  { day, dayUsed, monthUsed }: QuotaCounter,
  quota: Quota,
  { calls, granted, charged }: Decided,
): QuotaGrant => {
  const { perDay, perMonth } = quota
  const dayLeft = (perDay ?? Infinity) - dayUsed
  const monthLeft = (perMonth ?? Infinity) - monthUsed
  const isRejected = granted < calls
  // If both windows are used up, the month ends later.
  const byMonth = isRejected ? monthLeft <= dayLeft && perMonth !== null : perDay === null && perMonth !== null
  const [limit, left] = byMonth ? [perMonth, monthLeft] : [perDay, dayLeft]
  const grant = {
    granted,
    charged,
    limit,
    remaining: limit === null ? null : Math.max(0, left),
    resetAtMs: byMonth ? day.monthEndMs : day.endMs,
    quota,
    day: day.text,
  }
  return isRejected ? { ...grant, rejectedBy: byMonth ? 'month' : 'day' } : grant
}

/** Builds the usage of a quota's windows. */
export const toQuotaUsage = ({ day, dayUsed, monthUsed }: QuotaCounter, { perDay, perMonth }: Quota): QuotaUsage => ({
  day: { used: dayUsed, limit: perDay, resetAtMs: day.endMs },
  month: { used: monthUsed, limit: perMonth, resetAtMs: day.monthEndMs },
})

/** Returns the first day of a day's month, in days since 1970. */
export const getMonthStart = ({ text, day }: UtcDay): number => day - Number(text.slice(8, 10)) + 1

/** Creates a counter from what Redis or the ledger returned. */
export const createCounter = (day: number, dayUsed: number, monthUsed: number): QuotaCounter => ({
  day: toUtcDay(day),
  dayUsed,
  monthUsed,
})
