import { z } from 'zod'
import { network } from './networks.ts'
import { timeText } from './texts.ts'

const count = z.int().min(0)

const callSeries = z
  .strictObject({
    from: timeText.describe('The start of the first item.'),
    totals: z
      .array(count)
      .describe('Calls with a known key, the oldest first. The last item is the current one, which has not ended.'),
    failures: z.array(count).describe('How many of them failed or were rejected.'),
  })
  .describe('Calls over time.')

const instanceEvent = z
  .strictObject({
    at: timeText,
    kind: z.enum(['config', 'store', 'upstream']),
    network: network.nullable().describe('Of a node; `null` for other events.'),
    name: z.string().nullable().describe('The name of the store or the node; `null` for the config.'),
    state: z.string().describe('Such as `applied`, `unavailable` or `lagging`.'),
    reason: z.string().nullable().describe('Why a store or a node is not available, such as `HTTP 401`.'),
  })
  .describe('A change of the config, of a store or of a node.')

export const instanceView = z
  .strictObject({
    name: z.string().describe('The name of its host.'),
    version: z.string().describe('Of Keyrail.'),
    perSecond: callSeries.describe('Calls by second in the last 2 minutes, or since the start.'),
    perMinute: callSeries.describe('Calls by minute in the last 2 hours, or since the start.'),
    failures: z
      .array(z.strictObject({ outcome: z.string(), total: count }))
      .describe('The failed calls of `perMinute` by outcome, the most frequent first.'),
    events: z.array(instanceEvent).describe('The last 20 of each kind since the start, the newest first.'),
    config: z
      .strictObject({
        appliedAt: timeText.describe('When the config in use was applied: at the start, or at a reload.'),
        rejectedAt: timeText
          .nullable()
          .describe('When a changed config file was rejected since; `null`: never. The log has its faults.'),
        faults: count.describe('How many faults that file has.'),
        needsRestart: z.array(z.string()).describe('Changed options that only apply after a restart.'),
      })
      .describe('The state of its config file.'),
    stores: z
      .array(
        z.strictObject({
          name: z.enum(['database', 'redis', 'chainStore']),
          isAvailable: z.boolean(),
          checkMs: z
            .number()
            .min(0)
            .nullable()
            .describe('How long the last check took, in milliseconds; `null` before the first.'),
        }),
      )
      .describe('The database and, if there are any, Redis and the Redis of the chain store.'),
    load: z
      .strictObject({
        connections: count.describe('Open connections of callers.'),
        maxConnections: count,
        requests: count.describe('Requests in flight.'),
        queuedCalls: count.describe('Calls that wait for a node.'),
        bufferedBytes: count,
        maxBufferedBytes: count,
        unwrittenRows: count.describe('Rows, one for each key and minute, with counts that are not written.'),
        unwrittenMs: z.number().min(0).describe('The age of the oldest of these counts, in milliseconds.'),
        rollUpLagMs: z
          .number()
          .min(0)
          .describe('How long ago the oldest hour ended that is not rolled up, in milliseconds.'),
        databaseWaiting: count.nullable().describe('Queries that wait for a connection; `null` with SQLite.'),
        redisPending: count.nullable().describe('Commands that Redis has not replied to; `null` without Redis.'),
      })
      .describe('How busy it is.'),
    lost: z
      .strictObject({
        calls: count.describe('Calls whose counts were lost, because the database was unavailable for too long.'),
        requests: count.describe('Failed or sampled requests that the request log did not record.'),
        logLines: count.describe('Log lines that were dropped, because their reader was slow.'),
      })
      .describe('What was lost since the start.'),
    disks: z
      .array(z.strictObject({ of: z.enum(['database', 'chainStore']), freeBytes: count, totalBytes: count }))
      .describe('The disks of its files. PostgreSQL has a disk of its own, which it does not see.'),
    certificateEndsAt: timeText.nullable().describe('When the certificate of the config ends; `null` without one.'),
  })
  .meta({ id: 'Instance', description: 'The state of the instance that responds. Others have a state of their own.' })
