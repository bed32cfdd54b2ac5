import { z } from 'zod'
import { network } from './networks.ts'
import { pageMembers, pageOf } from './page.ts'
import { idText, timeText } from './texts.ts'

const count = z.int().min(0)
const entryMembers = {
  id: idText('log').describe('Later requests have greater ids.'),
  at: timeText.describe('When the response was ready.'),
  method: z
    .string()
    .nullable()
    .describe(
      'The method; of a batch, that of the first call that failed, else of the first that reverted, else of the first call. An unknown method by the name that the caller sent, cut to 64 characters. `null` if the request was rejected before its body was read, or had no method.',
    ),
  outcome: z
    .string()
    .describe(
      'As in the metrics: `succeeded`, `reverted`, `nodeError`, `upstreamFailed`, `disconnected`, or a rejection reason. Of a batch, that of the call in `method`.',
    ),
  code: z.int().nullable().describe('The JSON-RPC error code; `null` without an error.'),
  message: z
    .string()
    .nullable()
    .describe(
      'The message of the error, cut to 200 characters; of a revert, its decoded reason. `null` without an error.',
    ),
  status: z
    .int()
    .describe(
      'The HTTP status; 499 if the caller disconnected before the response. A message of a WebSocket has the one that it would have over HTTP.',
    ),
  durationMs: z.number().min(0).describe('From the header of the request until its response was ready.'),
  network,
  requestId: z.string().describe('The `X-Request-Id` of the response. The messages of a WebSocket have one each.'),
  calls: count.describe('How many calls the request had: more than 1 in a batch.'),
  failedCalls: count,
  storedCalls: count.describe('How many of the calls had their result in the chain store: no node was asked.'),
  keyEnding: z
    .string()
    .nullable()
    .describe(
      'The last four characters of the key, which differ between a rotated key and the new one; `null` if a JWT identified the app.',
    ),
  origin: z.string().nullable().describe('The `Origin` header, cut to 200 characters; `null` if there was none.'),
  ipBlock: z
    .string()
    .nullable()
    .describe(
      "The block of the caller's IP address, such as `203.0.113.0/24` or `2001:db8:1::/48`; `null` if unknown.",
    ),
  requestBytes: count.nullable().describe('The size of the request body; `null` if it was not read.'),
  responseBytes: count
    .nullable()
    .describe('The size of the response body before compression; `null` if it was streamed, or not sent.'),
  transport: z.enum(['http', 'websocket']),
}

export const requestEntryView = z.strictObject(entryMembers).meta({
  id: 'RequestEntry',
  description:
    'A request in the log: one over HTTP, or one message of a WebSocket. A batch is one request with several calls.',
})

export const requestEntriesView = pageOf(requestEntryView).describe('A page of requests in the log.')

export const requestDetailsView = z
  .strictObject({
    ...entryMembers,
    revertData: z
      .string()
      .nullable()
      .describe(
        'The revert data of the call in `method`, in hex: its selector and the first 512 bytes after it. `null` if it did not revert, or the node sent none.',
      ),
    params: z
      .string()
      .nullable()
      .describe(
        'The first 1,024 characters of the params of the call in `method`, as the caller sent them; `null` if they were not recorded.',
      ),
    response: z
      .string()
      .nullable()
      .describe('The first 1,024 characters of the result or error of the same call; `null` if it was not recorded.'),
  })
  .meta({ id: 'RequestDetails', description: 'A request in the log, with excerpts of its content.' })

const hasNoControl = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text)

/** The filters of a list of requests. */
export const requestFilters = {
  method: z
    .string()
    .max(64, { error: 'must have at most 64 characters' })
    .refine(hasNoControl, { error: 'must not contain control characters' })
    .exactOptional(),
  outcome: z
    .string()
    .regex(/^[A-Za-z_]{1,40}$/, { error: 'must be an outcome, such as "rate_limited", or "failed"' })
    .exactOptional()
    .describe('An outcome, or `failed` for all except `succeeded` and `reverted`.'),
  network: network.exactOptional(),
  keyEnding: z
    .string()
    .regex(/^[0-9A-Za-z]{4}$/, { error: 'must be the last four characters of a key' })
    .exactOptional()
    .describe('The last four characters of the key.'),
}

export const requestsQuery = z
  .strictObject({
    ...pageMembers,
    after: idText('log')
      .exactOptional()
      .describe(
        'Only requests newer than the one with this id. Instances write requests some seconds late, so it also returns those of the 5 seconds before: skip the ids that you have.',
      ),
    ...requestFilters,
  })
  .describe('Selects requests in the log.')

export const requestsCsvQuery = z.strictObject(requestFilters).describe('Selects requests of the log for a CSV table.')
