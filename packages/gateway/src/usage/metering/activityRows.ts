import type { Storage } from '../../storage/openStorage.ts'
import type { Activity } from './activity.ts'
import { connectionMethod, isFailure, notificationMethod } from './meter.ts'
import { unpackCounts } from './usageCounts.ts'
import type { PeriodPart } from './usagePlan.ts'

/** Activity that is being added up. */
export interface ActivitySum extends Activity {
  readonly totals: number[]
  readonly failures: number[]
  lastAt: number | null
}

/** Creates activity without requests. */
export const createActivitySum = (hours: number): ActivitySum => ({
  totals: Array.from({ length: hours }, () => 0),
  failures: Array.from({ length: hours }, () => 0),
  lastAt: null,
})

/**
 * Adds a stored row to an activity.
 * @param hour - The index of the row's hour.
 * @param counts - As stored.
 */
export const addCounts = ({ totals, failures }: ActivitySum, hour: number, counts: string): void => {
  for (const [method, , outcome, total] of unpackCounts(counts) ?? []) {
    if (outcome === 'succeeded' && (method === connectionMethod || method === notificationMethod)) continue
    totals[hour] = (totals[hour] ?? 0) + total
    if (isFailure(outcome)) failures[hour] = (failures[hour] ?? 0) + total
  }
}

/** Reads the rows of keys in a part of a period. */
export const readRows = (
  { query }: Storage['db'],
  { table, from, to }: PeriodPart,
  keyIds: readonly string[],
): Promise<
  readonly { readonly keyId: string; readonly at: number; readonly counts: string; readonly used: string }[]
> =>
  query
    .selectFrom(table)
    .select(['keyId', 'at', 'counts', 'used'])
    .where('keyId', 'in', keyIds)
    .where('at', '>=', from)
    .where('at', '<', to)
    .execute()
