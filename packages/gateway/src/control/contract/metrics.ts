import { z } from 'zod'
import { network } from './networks.ts'
import { searchText, timeText } from './texts.ts'

const count = z.int().min(0)
const ms = z.number().min(0).nullable()
export const metricsRange = z
  .enum(['hour', 'day', 'week', 'month', 'quarter'])
  .describe('A time range of metrics: the last 60 minutes, 24 hours, 7 days, 30 days or 90 days.')

export const metricsView = z
  .strictObject({
    range: z
      .enum([...metricsRange.options, 'custom'])
      .describe('`custom`: from `from` to `to` of the query, rounded to whole steps.'),
    from: timeText,
    to: timeText,
    step: z.enum(['minute', 'hour', 'day']).describe('The length of one item of `series`.'),
    total: count,
    succeeded: count.describe('Requests with a successful response.'),
    reverted: count.describe('Requests whose contract reverted. They are neither successes nor failures.'),
    stored: count.describe('Requests whose result was in the chain store: no node was asked.'),
    charged: z
      .strictObject({
        units: count.describe('What the limits charged.'),
        free: z
          .array(z.strictObject({ outcome: z.string(), total: count }))
          .describe(
            'Requests that were not charged, by outcome, most frequent first: those that were rejected, or sent to no node.',
          ),
        weighted: count.describe('Units beyond one for each request, because of the weights of methods.'),
        notifications: count.describe('Units of notifications.'),
      })
      .describe(
        'What the limits charged for the requests: `units` is `total`, less those that are `free`, plus `weighted` and `notifications`.',
      ),
    countedFrom: timeText.describe(
      'From when on requests are counted: when the app, the API key or the account was created, or when the retention of counts starts.',
    ),
    successRate: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe('`(succeeded + reverted) / total`, 0 to 1; `null` if there were no requests.'),
    latencyMs: z.strictObject({ p50: ms, p90: ms, p95: ms, p99: ms }),
    connections: count.describe('WebSockets that were opened.'),
    notifications: count.describe(
      'Notifications of subscriptions. They are not requests: the other members do not count them.',
    ),
    series: z
      .array(
        z.strictObject({
          at: timeText,
          total: count,
          succeeded: count,
          reverted: count,
          p50: ms,
          p95: ms,
          connections: count,
          notifications: count,
        }),
      )
      .describe('One item per step from `from` to `to`, including steps without requests.'),
    byMethod: z
      .array(z.strictObject({ method: z.string(), total: count, succeeded: count, reverted: count, p50: ms, p95: ms }))
      .describe('Most requested first.'),
    byOutcome: z
      .array(z.strictObject({ outcome: z.string(), total: count }))
      .describe('`succeeded`, `reverted`, `nodeError`, `upstreamFailed`, `disconnected`, or a rejection reason.'),
    byNetwork: z.array(z.strictObject({ network, total: count, succeeded: count, reverted: count })),
  })
  .meta({ id: 'Metrics', description: 'Request counts, outcomes and latencies. Each request of a batch counts.' })

const queryMembers = {
  range: metricsRange.exactOptional().describe("@default 'day'"),
  from: timeText
    .exactOptional()
    .describe(
      'The start of a range of its own, in place of `range`; needs `to`. Its steps are minutes up to 6 hours, hours up to 8 days, otherwise days, and coarser ones if it starts before the service still has the finer ones.',
    ),
  to: timeText.exactOptional().describe('The end of the range, at most 2 years after `from`.'),
  method: searchText.exactOptional().describe('Counts only requests with this method, as in `byMethod`.'),
  outcome: searchText.exactOptional().describe('Counts only requests with this outcome, as in `byOutcome`.'),
  network: searchText.exactOptional().describe('Counts only requests to this network.'),
}

export const metricsQuery = z.strictObject(queryMembers).describe('Selects metrics.')

export const metricsCsvQuery = z
  .strictObject({
    ...queryMembers,
    of: z
      .enum(['series', 'methods', 'outcomes', 'networks'])
      .exactOptional()
      .describe("The kind of rows. @default 'series'"),
  })
  .describe('Selects metrics for a CSV table.')
