import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import { readRows } from './activityRows.ts'
import { bucketCount, percentile } from './latencyBuckets.ts'
import { connectionMethod, forwardedOutcomes, isFailure, notificationMethod } from './meter.ts'
import { unpackCounts } from './usageCounts.ts'

/** The calls of an app, or of all API keys of an account, in some minutes. */
export interface RecentCalls {
  readonly total: number
  readonly failed: number
  /** Those with a latency: they were forwarded. */
  readonly timed: number
  /** Their 95th percentile in milliseconds; `null` if there are none. */
  readonly p95: number | null
}

/** Reads the recent calls of an account, by app; those of API keys are at `null`. @param query.from - Milliseconds since 1970. */
export type ReadRecentCalls = (query: {
  readonly userId: string
  readonly from: number
  readonly to: number
}) => Promise<ReadonlyMap<string | null, RecentCalls>>

/** Keys per query: few, because parsing their rows blocks the thread. */
const keysAtOnce = 5

interface Sum {
  total: number
  failed: number
  timed: number
  readonly buckets: Uint32Array
}

const addRow = (sum: Sum, counts: string): void => {
  for (const cell of unpackCounts(counts) ?? []) {
    const [method, , outcome, total] = cell
    // Those are no calls. A call of such a method is rejected.
    if (outcome === 'succeeded' && (method === connectionMethod || method === notificationMethod)) continue
    sum.total += total
    if (isFailure(outcome)) sum.failed += total
    if (!forwardedOutcomes.has(outcome)) continue
    for (let index = 4; index < cell.length; index += 2) {
      const bucket = cell[index] as number
      const count = cell[index + 1] as number
      sum.buckets[bucket] = (sum.buckets[bucket] ?? 0) + count
      sum.timed += count
    }
  }
}

/** Creates a reader of recent calls. It has counts once the meter has written them, half a second later. */
export const createReadRecentCalls =
  ({ storage: { db } }: { storage: Pick<Storage, 'db'> }): ReadRecentCalls =>
  async ({ userId, from, to }) => {
    const keys = await db.query
      .selectFrom('usageKeys')
      .select(['keyId', 'appId'])
      .where('userId', '=', userId)
      .orderBy('keyId')
      .execute()
    const appIds = new Map(keys.map(({ keyId, appId }) => [keyId, appId]))
    const sums = new Map<string | null, Sum>()
    for (let start = 0; start < keys.length; start += keysAtOnce) {
      const keyIds = keys.slice(start, start + keysAtOnce).map(({ keyId }) => keyId)
      for (const { keyId, counts } of await readRows(db, { table: 'usageMinutes', from, to }, keyIds)) {
        const appId = appIds.get(keyId) ?? null
        let sum = sums.get(appId)
        if (sum === undefined)
          sums.set(appId, (sum = { total: 0, failed: 0, timed: 0, buckets: new Uint32Array(bucketCount) }))
        addRow(sum, counts)
      }
      await nextRound()
    }
    return new Map(
      [...sums].map(([appId, { total, failed, timed, buckets }]) => [
        appId,
        { total, failed, timed, p95: percentile(buckets, 0.95) },
      ]),
    )
  }
