import { z } from 'zod'
import { timeText } from './texts.ts'

const count = z.int().min(0)
const traffic = {
  total: count.describe('Requests, rejected ones included. Each request of a batch counts.'),
  failed: count.describe('Requests that failed. One whose contract reverted did not.'),
  totals: z.array(count).describe('Requests by hour, the oldest hour first.'),
  failures: z.array(count).describe('Requests that failed, by hour.'),
  lastUsedAt: timeText
    .nullable()
    .describe('To the minute; after 8 days to the hour, after 90 days to the UTC day. `null`: never used.'),
}

export const trafficView = z.strictObject(traffic).describe('The requests of the last 24 hours, and the last use.')

export const activityItem = z
  .strictObject({ kind: z.enum(['app', 'apiKey']), id: z.string(), name: z.string(), ...traffic })
  .describe('The requests of an app or an API key in the last 24 hours, and its last use.')

export const activityView = z
  .strictObject({
    from: timeText.describe('The start of the first hour. The last one is the current hour.'),
    to: timeText,
    total: count.describe('All requests, also of apps that were deleted and keys that were revoked since.'),
    failed: count,
    items: z.array(activityItem).describe('Every app, then every API key that is not revoked; each the oldest first.'),
  })
  .meta({ id: 'Activity', description: 'The activity of an account.' })

export const keyTrafficView = z
  .strictObject({
    from: timeText.describe('The start of the first hour. The last one is the current hour.'),
    to: timeText,
    current: trafficView.describe('Since the minute of the last rotation.'),
    old: trafficView

      .nullable()
      .describe('Of the old key, before and after the rotation; `null` if there is no grace period.'),
  })
  .meta({ id: 'KeyTraffic', description: 'The traffic of a key, and during a grace period that of the old key.' })
