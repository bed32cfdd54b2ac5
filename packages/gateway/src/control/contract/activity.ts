import { z } from 'zod'
import { timeText } from './texts.ts'

/** The requests of the last 24 hours, and the last use. */
export interface TrafficView {
  /** Requests, rejected ones included. Each request of a batch counts. */
  readonly total: number
  /** Requests that failed. One whose contract reverted did not. */
  readonly failed: number
  /** Requests by hour, the oldest hour first. */
  readonly totals: readonly number[]
  /** Requests that failed, by hour. */
  readonly failures: readonly number[]
  /** To the minute; after 8 days to the hour, after 90 days to the UTC day. `null`: never used. */
  readonly lastUsedAt: string | null
}

/** The requests of an app or an API key in the last 24 hours, and its last use. */
export interface ActivityItem extends TrafficView {
  readonly kind: 'app' | 'apiKey'
  readonly id: string
  readonly name: string
}

/** The traffic of a key, and during a grace period that of the old key. */
export interface KeyTrafficView {
  /** The start of the first hour. The last one is the current hour. */
  readonly from: string
  readonly to: string
  /** Since the minute of the last rotation. */
  readonly current: TrafficView
  /** Of the old key, before and after the rotation; `null` if there is no grace period. */
  readonly old: TrafficView | null
}

/** The activity of an account. */
export interface ActivityView {
  /** The start of the first hour. The last one is the current hour. */
  readonly from: string
  readonly to: string
  /** All requests, also of apps that were deleted and keys that were revoked since. */
  readonly total: number
  readonly failed: number
  /** Every app, then every API key that is not revoked; each the oldest first. */
  readonly items: readonly ActivityItem[]
}

const count = z.int().min(0)
const traffic = {
  total: count,
  failed: count,
  totals: z.array(count),
  failures: z.array(count),
  lastUsedAt: timeText.nullable(),
}

/** The schema of `ActivityView`. */
export const activityView: z.ZodType<ActivityView> = z
  .strictObject({
    from: timeText,
    to: timeText,
    total: count,
    failed: count,
    items: z.array(
      z.strictObject({
        kind: z.enum(['app', 'apiKey']),
        id: z.string(),
        name: z.string(),
        ...traffic,
      }),
    ),
  })
  .meta({ id: 'Activity' })

/** The schema of `KeyTrafficView`. */
export const keyTrafficView: z.ZodType<KeyTrafficView> = z
  .strictObject({
    from: timeText,
    to: timeText,
    current: z.strictObject(traffic),
    old: z.strictObject(traffic).nullable(),
  })
  .meta({ id: 'KeyTraffic' })
